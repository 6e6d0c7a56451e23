// `find_page_file` finds the files of the page, which are built into the program: nothing is read
// from elsewhere, so that the page works without a network.
// Thread: the main thread.
#pragma once

#include "gateway/admin/admin_http.hpp"

#include <optional>
#include <string_view>

namespace gateway::admin {

struct page_file {
    std::string_view path;
    std::string_view type;
    std::string_view text;
};

// Returns the file of that path, or nothing if there is none. The page itself is at "/".
std::optional<page_file> find_page_file(std::string_view path);

// Answers with the file, compressed if the request allows that. The policy of the response lets the
// page load nothing but these files, and send requests to this API only.
probes::control_response answer_page_file(const admin_request& asked, const page_file& file);

}  // namespace gateway::admin
