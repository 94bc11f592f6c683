// The only way to standard output and standard error. Text of others (names, paths, logs, pages)
// stands in much of what is printed; here, whatever a command did, its controls become visible.
#pragma once

#include <string>
#include <string_view>

namespace cukit::ui {

/// Opens what the caller closed of the three standard descriptors, so that no file that is written
/// gets such a number. Writing to a standard output that was closed fails.
void open_standard_descriptors();

/// Text for people on standard output. Of its controls only line ends, tabs and the colours of
/// Terminal::paint get through; the others, and bytes that are not UTF-8, are spelled out.
void print(std::string_view text);
/// The same on standard error.
void say(std::string_view text);
/// What a program reads (a shell's commands, a manifest): byte for byte, except on a terminal,
/// which gets it as print() does.
void print_data(std::string_view text);
/// On standard error as it is: the movements of a progress view, or what a child printed.
void draw(std::string_view text);

/// The colours of Terminal::paint pass on that descriptor from now on.
void pass_colours(int descriptor);
/// `text` as print() writes it.
[[nodiscard]] std::string shown(std::string_view text, bool with_colours);

/// What the exit code must be once everything is printed. When standard output did not take it, it
/// is said, and nothing that ended well ends with 0; a reader that went away (`| head`) had what
/// it wanted.
[[nodiscard]] int exit_code_after_output(int code);

} // namespace cukit::ui
