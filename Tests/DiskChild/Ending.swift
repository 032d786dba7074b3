#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends this process when the process of the tests ends, which holds the other end of the standard input.
///
/// A process that is left over would keep the output of the tests open, so that their runner never ends.
func endWithTests() {
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let status = unsafe pthread_create(
    &thread, nil,
    { _ in
      var byte: UInt8 = 0
      while unsafe read(0, &byte, 1) > 0 {}
      _exit(9)
    }, nil)
  precondition(status == 0, "no thread can be started")
}
