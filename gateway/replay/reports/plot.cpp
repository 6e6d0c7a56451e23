#include "gateway/replay/reports/plot.hpp"

#include "gateway/replay/reports/number_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace gateway::replay {

namespace {

constexpr double view_width = 720;
constexpr double view_height = 180;
constexpr double margin_left = 64;
constexpr double margin_bottom = 28;
constexpr double margin_top = 12;
constexpr double plot_width = view_width - margin_left - 8;
constexpr double plot_height = view_height - margin_bottom - margin_top;

std::string number(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

void begin_svg(std::string& to, const std::string& label)
{
    to += "<svg viewBox=\"0 0 720 180\" role=\"img\" aria-label=\"" + label + "\">";
}

void add_text(std::string& to, double x, double y, const char* anchor, const std::string& text)
{
    to += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
          text + "</text>";
}

// `bar` is a part of a bin's bar. Its height and what lies below it are shares of the plot.
struct bar {
    double x = 0;
    double width = 0;
    double below = 0;
    double height = 0;
};

void add_bar(std::string& to, const char* kind, const bar& b)
{
    if (b.height > 0) {
        to += "<rect class=\"" + std::string{kind} + "\" x=\"" + number(b.x) + "\" y=\"" +
              number(margin_top + plot_height * (1 - b.below - b.height)) + "\" width=\"" +
              number(b.width) + "\" height=\"" + number(std::max(plot_height * b.height, 1.0)) +
              "\"/>";
    }
}

void add_axis(std::string& to)
{
    const std::string y = number(view_height - margin_bottom);
    to += "<line x1=\"" + number(margin_left) + "\" y1=\"" + y + "\" x2=\"" +
          number(view_width - 8) + "\" y2=\"" + y + "\"/>";
}

// `log_axis` maps a range of numbers to a range of positions, by their logarithms.
class log_axis {
public:
    log_axis(double least, double most, double from, double to)
        : least_(std::log(least)),
          range_(std::max(std::log(most) - least_, 1e-9)),
          from_(from),
          to_(to)
    {}

    double at(double value) const
    {
        return from_ + (std::log(value) - least_) / range_ * (to_ - from_);
    }

private:
    double least_;
    double range_;
    double from_;
    double to_;
};

}  // namespace

std::string timeline_plot(const timeline& t)
{
    const auto& bins = t.bins();
    std::uint64_t most = 1;
    for (const auto& b : bins) {
        most = std::max(most, b[0] + b[1] + b[2]);
    }
    std::string svg;
    begin_svg(
        svg, "Requests in each " + span_text(t.width()) + " from " + moment_text(t.begin()) + " UTC"
    );
    const double bin_width =
        plot_width / static_cast<double>(std::max<std::size_t>(bins.size(), 1));
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double x = margin_left + bin_width * static_cast<double>(i);
        double from = 0;
        constexpr std::array<const char*, 3> kinds{"allowed", "rejected", "unjudged"};
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const double share = static_cast<double>(bins[i][kind]) / static_cast<double>(most);
            add_bar(
                svg,
                kinds[kind],
                {.x = x, .width = std::max(bin_width - 0.5, 0.5), .below = from, .height = share}
            );
            from += share;
        }
    }
    add_axis(svg);
    add_text(svg, margin_left - 6, margin_top + 10, "end", grouped(most));
    add_text(svg, margin_left - 6, view_height - margin_bottom, "end", "0");
    add_text(svg, margin_left, view_height - 8, "start", moment_text(t.begin()));
    const auto end = t.begin() + t.width() * static_cast<std::int64_t>(bins.size());
    add_text(svg, view_width - 8, view_height - 8, "end", moment_text(end));
    return svg + "</svg>";
}

std::string curve_plot(const suggestion& s)
{
    if (s.curve.size() < 2) {
        return {};
    }
    const auto [slowest, fastest] =
        std::minmax_element(s.curve.begin(), s.curve.end(), [](const auto& a, const auto& b) {
            return a.per_second < b.per_second;
        });
    const auto [smallest, largest] =
        std::minmax_element(s.curve.begin(), s.curve.end(), [](const auto& a, const auto& b) {
            return a.burst < b.burst;
        });
    const log_axis x{slowest->per_second, fastest->per_second, margin_left + 6, view_width - 16};
    const log_axis y{
        static_cast<double>(smallest->burst),
        static_cast<double>(largest->burst),
        view_height - margin_bottom - 6,
        margin_top + 6};
    std::string svg;
    begin_svg(svg, "Pairs of rate and burst that reject no more than is accepted");
    svg += "<polyline class=\"curve\" points=\"";
    for (const suggested_numbers& n : s.curve) {
        svg += number(x.at(n.per_second)) + ',' + number(y.at(static_cast<double>(n.burst))) + ' ';
    }
    svg += "\"/>";
    for (const suggested_numbers& n : s.curve) {
        const bool best = n.rate == s.best.rate && n.burst == s.best.burst;
        svg += "<circle class=\"" + std::string{best ? "best" : "pair"} + "\" cx=\"" +
               number(x.at(n.per_second)) + "\" cy=\"" +
               number(y.at(static_cast<double>(n.burst))) + "\" r=\"" + (best ? "6" : "3") +
               "\"><title>" + n.rate + ", burst " + std::to_string(n.burst) + "</title></circle>";
    }
    add_axis(svg);
    add_text(
        svg,
        margin_left - 6,
        margin_top + 10,
        "end",
        grouped(static_cast<std::uint64_t>(largest->burst))
    );
    add_text(
        svg,
        margin_left - 6,
        view_height - margin_bottom,
        "end",
        grouped(static_cast<std::uint64_t>(smallest->burst))
    );
    add_text(svg, margin_left, view_height - 8, "start", slowest->rate);
    add_text(svg, view_width - 8, view_height - 8, "end", fastest->rate);
    add_text(svg, view_width / 2, view_height - 8, "middle", "rate (across) and burst (up)");
    return svg + "</svg>";
}

}  // namespace gateway::replay
