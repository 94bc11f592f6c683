// Every bound on what comes from outside, with where its number comes from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cukit::limits {

// Text files a person writes. The longest real manifest has 2 kB.
constexpr std::uint64_t k_manifest_bytes = 1U << 20U;
// A lock has about 400 bytes per artifact; 30 components on 3 platforms are 36 kB.
constexpr std::uint64_t k_lock_bytes = 8U << 20U;
constexpr int k_yaml_depth = 64;
constexpr int k_json_depth = 64;
// The largest simple page seen (a package with thousands of files) has 9 MB; NVIDIA's have 22 kB.
// Read as JSON a page takes thirty times its size.
constexpr std::uint64_t k_index_page_bytes = 16U << 20U;
// METADATA and RECORD: the largest RECORD of a wheel in use (cccl, 2,100 files) has 300 kB.
constexpr std::uint64_t k_metadata_bytes = 16U << 20U;

// Archives. The largest wheel of NVIDIA's has 600 MB; 2,300 members is the most seen in one.
constexpr std::uint64_t k_archive_members = 200'000;
constexpr std::uint64_t k_archive_unpacked_bytes = 32ULL << 30U;
// Deflate cannot do better than 1032:1; header-only and static-library members reach 20:1.
constexpr std::uint64_t k_deflate_ratio = 1100;
// All that comes out of a wheel together: a few members of zeros are no bomb, a wheel of them is.
constexpr std::uint64_t k_wheel_ratio = 100;
constexpr std::uint64_t k_wheel_free_bytes = 16U << 20U;
constexpr std::uint64_t k_central_directory_bytes = 64U << 20U;
// tar.xz. The strongest preset of xz (-9) needs 65 MiB to unpack.
constexpr std::uint64_t k_xz_memory = 256U << 20U;
// LZMA can do 7000:1 on zeros; static libraries, the densest content seen, reach 20:1 with deflate.
// The first megabytes are free, so that a few zeros in a small archive are no bomb.
constexpr std::uint64_t k_xz_ratio = 250;
constexpr std::uint64_t k_xz_free_bytes = 16U << 20U;
// One extended header, or the list of all names: 2,300 members of 150 bytes are the most seen.
constexpr std::uint64_t k_tar_extension_bytes = 1U << 20U;
constexpr std::uint64_t k_tar_names_bytes = 64U << 20U;
// Images of containers. Packed layers of real ones reach 5:1; a login database that useradd grew to
// a large number is a gigabyte of zeros, which costs time and no disk. On the disk lies what the
// doctor reads: of the largest images in use (20 GB) some 3 GB.
constexpr std::uint64_t k_layer_free_unpacked = 1ULL << 30U;
constexpr std::uint64_t k_layer_unpacked_ratio = 100;
constexpr std::uint64_t k_layer_free_written = 64U << 20U;
constexpr std::uint64_t k_layer_written_ratio = 30;
constexpr std::uint64_t k_layer_written = 64ULL << 30U;
constexpr std::uint64_t k_layer_free_entries = 100'000;
constexpr std::uint64_t k_layer_entry_bytes = 100; // of a packed layer: a header alone packs to 30
constexpr std::uint64_t k_layer_entries = 2'000'000;
constexpr std::size_t k_image_layers = 512; // 127 are what runtimes can mount
constexpr int k_link_hops = 40;             // as the kernel follows
constexpr std::size_t k_link_steps = 1'000'000;
constexpr std::size_t k_path_bytes = 4096;
constexpr std::size_t k_name_bytes = 255;
constexpr std::size_t k_path_depth = 64;

// HTTP.
constexpr int k_redirects = 5;
constexpr int k_connect_seconds = 15;
constexpr int k_stall_seconds = 30;
constexpr int k_stall_bytes_per_second = 1024;
constexpr int k_attempts = 5;
constexpr int k_retry_after_seconds = 300;
// A server that drips just above the stall limit would be waited for for days. 32 kbit/s is the
// slowest line on which a toolkit is worth waiting for; nothing that is read as a page takes longer
// than a quarter of an hour on one.
constexpr int k_patience_seconds = 60;
constexpr int k_least_bytes_per_second = 4096;
constexpr int k_page_seconds = 900;
// What is kept in memory at once: pages of 60 projects, of which real ones have 30 kB each.
constexpr std::uint64_t k_pages_bytes = 64U << 20U;
constexpr std::size_t k_pages_at_once = 32;
// An answer that is no success: the title of its page is shown, the rest is dropped.
constexpr std::size_t k_error_page_bytes = 64U << 10U;

} // namespace cukit::limits
