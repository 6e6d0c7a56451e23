#include "gateway/telemetry/access_log.hpp"

#include "gateway/base/text.hpp"
#include "gateway/telemetry/escape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace gateway::telemetry {

namespace {

template <typename Number>
void append_number(std::string& out, Number number)
{
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

// Appends seconds with six decimals, "0.001234".
void append_seconds(std::string& out, base::duration d)
{
    const auto micros =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count()
        );
    append_number(out, micros / 1'000'000);
    out += '.';
    for (std::uint64_t unit = 100'000; unit > 0; unit /= 10) {
        out += static_cast<char>('0' + micros / unit % 10);
    }
}

// Appends a field, but leaves out an empty one.
void append_json_field(std::string& out, std::string_view name, std::string_view text)
{
    if (!text.empty()) {
        out += name;
        append_json_text(out, text);
        out += '"';
    }
}

void append_text_field(std::string& out, std::string_view name, std::string_view text)
{
    if (!text.empty()) {
        out += name;
        append_plain_text(out, text);
        out += '"';
    }
}

// Appends a list of names, which need no escaping.
void append_json_list(std::string& out, std::string_view name, std::string_view names)
{
    if (names.empty()) {
        return;
    }
    out += name;
    base::for_each_element(names, ',', [&out](std::string_view element) {
        out.append("\"").append(element).append("\",");
    });
    out.back() = ']';
}

// True if the cost under one limit does not tell those under the others.
bool must_be_named(std::span<const limit_cost> costs)
{
    return costs.size() > 1 && std::any_of(costs.begin(), costs.end(), [&costs](const auto& c) {
               return c.varies || c.tokens != costs.front().tokens;
           });
}

// `cost_words` is what stands around the numbers of costs.
struct cost_words {
    std::string_view cost;
    std::string_view costs;
    std::string_view before_name;
    std::string_view after_name;
    char end;
};

constexpr cost_words json_costs{R"(,"cost":)", R"(,"costs":{)", "\"", "\":", '}'};
constexpr cost_words text_costs{" cost=", " costs=\"", "", "=", '"'};

// Appends what the request costs, and `"a":1,"b":2` or `a=1,b=2` if that does not tell the cost
// under each limit.
void append_costs(std::string& out, std::span<const limit_cost> costs, const cost_words& words)
{
    if (costs.empty()) {
        return;
    }
    out += words.cost;
    append_number(out, costs.front().tokens);
    if (must_be_named(costs)) {
        out += words.costs;
        for (const limit_cost& c : costs) {
            out.append(words.before_name).append(c.limit).append(words.after_name);
            append_number(out, c.tokens);
            out += ',';
        }
        out.back() = words.end;
    }
}

void append_json_values(std::string& out, std::span<const field_value> fields)
{
    if (fields.empty()) {
        return;
    }
    out += R"(,"fields":{)";
    for (const field_value& f : fields) {
        out.append("\"").append(f.name).append("\":\"");
        append_json_text(out, f.value);
        out += "\",";
    }
    out.back() = '}';
}

void append_text_values(std::string& out, std::span<const field_value> fields)
{
    for (const field_value& f : fields) {
        out.append(" ").append(f.name).append("=\"");
        append_plain_text(out, f.value);
        out += '"';
    }
}

void append_grpc_status(std::string& out, std::string_view name, const access_record& record)
{
    if (record.grpc_status) {
        out += name;
        append_number(out, *record.grpc_status);
    }
}

void append_upstream_numbers(
    std::string& out,
    std::string_view seconds,
    std::string_view attempts,
    const access_record& record
)
{
    if (record.upstream_time >= base::duration{0}) {
        out += seconds;
        append_seconds(out, record.upstream_time);
    }
    if (record.attempts > 1) {
        out += attempts;
        append_number(out, record.attempts);
    }
}

}  // namespace

access_log::access_log(access_log_writer& writer) : writer_(writer), to_unix_(writer.to_unix()) {}

void access_log::write(const access_record& record)
{
    if (!writer_.enabled()) {
        return;
    }
    if (buffer_.capacity() < flush_bytes + line_room) {
        buffer_.reserve(flush_bytes + line_room);
    }
    const std::string_view path = record.target.substr(0, record.target.find('?'));
    if (writer_.format() == log_format::json) {
        append_json(record, path);
    } else {
        append_text(record, path);
    }
    if (buffer_.size() >= flush_bytes) {
        flush();
    }
}

void access_log::flush()
{
    if (!buffer_.empty()) {
        writer_.submit(std::string(buffer_)
        );  // The copy has no spare capacity, which the bound on the backlog does not count.
        buffer_.clear();
    }
}

void access_log::append_json(const access_record& record, std::string_view path)
{
    std::string& out = buffer_;
    out += R"({"time":")";
    time_.append_iso(out, base::unix_time());
    out += R"(","client":")";
    out += record.client.to_string();
    out += R"(","peer":")";
    out += record.peer.to_string();
    out += R"(","method":")";
    append_json_text(out, record.method);
    out += R"(","host":")";
    append_json_text(out, record.host);
    out += R"(","target":")";
    append_json_text(out, path);
    out += '"';
    append_json_field(out, R"(,"route":")", record.route);
    append_json_field(out, R"(,"upstream":")", record.upstream);
    append_json_field(out, R"(,"limit":")", record.limit);
    append_json_field(out, R"(,"outcome":")", record.outcome);
    append_json_field(out, R"(,"plan":")", record.plans);
    append_json_field(out, R"(,"bucket":")", record.bucket);
    append_json_list(out, R"(,"shadow_rejected":[)", record.shadow_rejected);
    if (record.decided) {
        out += R"(,"decided":)";
        append_number(out, (record.decided->time_since_epoch() + to_unix_).count());
    }
    append_costs(out, record.costs, json_costs);
    append_json_field(out, R"(,"request_id":")", record.request_id);
    out += R"(,"status":)";
    append_number(out, record.status);
    append_grpc_status(out, R"(,"grpc_status":)", record);
    out += R"(,"request_bytes":)";
    append_number(out, record.request_bytes);
    out += R"(,"response_bytes":)";
    append_number(out, record.response_bytes);
    out += R"(,"duration_seconds":)";
    append_seconds(out, record.duration);
    append_json_field(out, R"(,"server":")", record.server);
    append_upstream_numbers(out, R"(,"upstream_seconds":)", R"(,"attempts":)", record);
    append_json_field(out, R"(,"error":")", record.error);
    append_json_values(out, record.fields);
    out += "}\n";
}

void access_log::append_text(const access_record& record, std::string_view path)
{
    std::string& out = buffer_;
    out += record.client.to_string();
    out += " - - [";
    time_.append_common(out, base::unix_time());
    out += "] \"";
    append_plain_text(out, record.method);
    out += ' ';
    append_plain_text(out, path);
    out += "\" ";
    append_number(out, record.status);
    out += ' ';
    append_number(out, record.response_bytes);
    out += ' ';
    append_seconds(out, record.duration);
    out += " peer=";
    out += record.peer.to_string();
    append_text_field(out, " host=\"", record.host);
    append_text_field(out, " route=\"", record.route);
    append_text_field(out, " upstream=\"", record.upstream);
    append_text_field(out, " limit=\"", record.limit);
    append_text_field(out, " outcome=\"", record.outcome);
    append_text_field(out, " plan=\"", record.plans);
    append_text_field(out, " bucket=\"", record.bucket);
    append_text_field(out, " shadow_rejected=\"", record.shadow_rejected);
    if (record.decided) {
        out += " decided=";
        append_number(out, (record.decided->time_since_epoch() + to_unix_).count());
    }
    append_costs(out, record.costs, text_costs);
    append_text_field(out, " request_id=\"", record.request_id);
    append_grpc_status(out, " grpc_status=", record);
    append_text_field(out, " server=\"", record.server);
    append_upstream_numbers(out, " upstream_seconds=", " attempts=", record);
    append_text_field(out, " error=\"", record.error);
    append_text_values(out, record.fields);
    out += '\n';
}

}  // namespace gateway::telemetry
