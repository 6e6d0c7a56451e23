#include "gateway/tracing/otlp.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/base/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <charconv>

namespace gateway::tracing {

namespace {

namespace json = boost::json;

std::string hex(std::uint64_t number)
{
    std::string text(16, '0');
    base::write_hex(number, 16, text.data());
    return text;
}

// Returns the text with '?' for bytes that are no UTF-8, which JSON cannot have. The text keeps its
// size, which is bounded.
std::string valid_text(std::string_view text)
{
    std::string valid{text};
    for (std::size_t bad = base::first_not_utf8(valid); bad != std::string::npos;
         bad = base::first_not_utf8(valid)) {
        valid[bad] = '?';
    }
    return valid;
}

json::object key_value(std::string_view key, json::object value)
{
    return {{"key", key}, {"value", std::move(value)}};
}

json::object text_value(std::string_view key, std::string_view text)
{
    return key_value(key, {{"stringValue", valid_text(text)}});
}

json::object encoded(const attribute& a)
{
    if (const auto* const text = std::get_if<std::string>(&a.value)) {
        return text_value(a.name, *text);
    }
    return key_value(a.name, {{"intValue", std::to_string(std::get<std::int64_t>(a.value))}});
}

json::object encoded(const span& s)
{
    json::array attributes;
    for (const attribute& a : s.attributes) {
        attributes.push_back(encoded(a));
    }
    json::object all{
        {"traceId", hex(s.trace.high) + hex(s.trace.low)},
        {"spanId", hex(s.id)},
        {"name", valid_text(s.name)},
        {"kind", static_cast<int>(s.is)},
        {"startTimeUnixNano", std::to_string(s.begin.count())},
        {"endTimeUnixNano", std::to_string(s.end.count())}};
    if (!attributes.empty()) {
        all.emplace("attributes", std::move(attributes));
    }
    if (s.parent != 0) {
        all.emplace("parentSpanId", hex(s.parent));
    }
    if (s.failed) {
        constexpr int status_code_error = 2;
        all.emplace("status", json::object{{"code", status_code_error}});
    }
    return all;
}

}  // namespace

std::string encode_spans(std::span<const span> spans, const resource& from)
{
    json::array all;
    for (const span& s : spans) {
        all.push_back(encoded(s));
    }
    const json::object scope{{"name", "gateway"}, {"version", from.version}};
    const json::array by{
        text_value("service.name", from.service_name),
        text_value("service.version", from.version),
        text_value("service.instance.id", from.instance)};
    const json::object request{
        {"resourceSpans",
         json::array{json::object{
             {"resource", json::object{{"attributes", by}}},
             {"scopeSpans", json::array{json::object{{"scope", scope}, {"spans", all}}}}}}}};
    return json::serialize(request);
}

std::uint64_t rejected_spans(std::string_view body)
{
    boost::system::error_code ec;
    const json::value answer = json::parse({body.data(), body.size()}, ec);
    const auto* const top = ec ? nullptr : answer.if_object();
    const auto* const partial = top != nullptr ? top->if_contains("partialSuccess") : nullptr;
    const auto* const part = partial != nullptr ? partial->if_object() : nullptr;
    const auto* const count = part != nullptr ? part->if_contains("rejectedSpans") : nullptr;
    if (count == nullptr) {
        return 0;
    }
    if (const auto* const number = count->if_int64()) {
        return *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
    }
    std::uint64_t number = 0;
    if (const auto* const text = count->if_string()) {
        std::from_chars(text->data(), text->data() + text->size(), number);
    }
    return number;
}

}  // namespace gateway::tracing
