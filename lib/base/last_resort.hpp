// What ends the program when memory or threads run out, wherever that happens: one error on
// standard error and the exit code of the host, instead of an abort. Nothing is tidied up, as when
// the process is killed; the next run sweeps.
#pragma once

namespace cukit {

/// Once, at the start of main(). Applies to all threads.
void install_last_resort();

} // namespace cukit
