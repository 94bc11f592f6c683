#include "exports/dockerfile.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::exports {

namespace {

/// {place}, {checked}, {mode}, {variables} and {title} are filled in. cukit comes from a context of
/// its own and is mounted, so that no layer keeps it; the store is a cache of the builder's.
constexpr std::string_view k_dockerfile = R"(# syntax=docker/dockerfile:1
# {title}
#   docker build --build-context cukit=DIR --target jit .     DIR: what `cmd/dev dist` made
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS tree
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
ARG CUKIT_INDEX_URL
RUN --mount=type=bind,from=cukit,target=/mnt/cukit \
    --mount=type=bind,target=/mnt/context \
    --mount=type=cache,target=/var/cache/cukit \
    CUKIT_HOME=/var/cache/cukit /mnt/cukit/bin/cukit up {mode} --no-validate --prefix {place} /mnt/context/cuda.yaml{checked}
RUN mkdir -p /libs/lib /libs/LICENSES \
    && cp -a {place}/LICENSES/. /libs/LICENSES/ \
    && find {place}/lib/ -maxdepth 1 -name 'lib*.so*' -exec cp -a {} /libs/lib/ \;

FROM ${BASE} AS user
RUN useradd --create-home --uid 1000 cuda

FROM user AS libs
COPY --from=tree /libs/ {place}/
RUN echo {place}/lib > /etc/ld.so.conf.d/cukit.conf && ldconfig
USER cuda

FROM user AS jit
RUN apt-get update && apt-get install -y --no-install-recommends g++ ninja-build && rm -rf /var/lib/apt/lists/*
COPY --from=tree {place}/ {place}/
{variables}USER cuda
)";

void fill(std::string& text, std::string_view name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
    text.replace(at, name.size(), value);
  }
}

} // namespace

Result<std::map<std::string, std::string>> docker_context(const DockerfileRequest& request) {
  const auto& place = request.place.string();
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '-' ||
           c == '_';
  };
  if (!request.place.is_absolute() || !std::all_of(place.begin(), place.end(), is_plain)) {
    return fail(ErrorCode::usage,
                "{} is no place for a toolkit in an image: say a path from / on of letters, "
                "digits, `.`, `-` and `_`",
                printable(place));
  }
  std::string text(k_dockerfile);
  fill(text, "{title}", request.title);
  fill(text, "{mode}", request.is_locked ? "--locked" : "--frozen");
  fill(text, "{checked}",
       request.content.empty() ? std::string()
                               : fmt::format(" \\\n    && test \"$(cat {}/.cukit/content)\" = {}",
                                             place, request.content));
  fill(text, "{variables}", request.variables);
  fill(text, "{place}", place);
  return std::map<std::string, std::string>{{"Dockerfile", std::move(text)},
                                            {".dockerignore", "*\n!cuda.yaml\n!cuda.lock.yaml\n"},
                                            {"cuda.yaml", request.manifest},
                                            {"cuda.lock.yaml", request.lock}};
}

} // namespace cukit::exports
