#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs `body` in a child process and returns its exit status, or -1 if a signal ended it. Swift hides `fork` for a
/// good reason: the child must not need a lock that another thread held. An alarm ends a child that is stuck.
func inChild(_ body: () -> Int32) -> Int32 {
  let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let child = fork()
  if child == 0 {
    alarm(20)
    _exit(body())
  }
  var status: Int32 = 0
  while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
  return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
}
