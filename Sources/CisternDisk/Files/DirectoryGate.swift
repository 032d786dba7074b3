import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An advisory lock on a directory. A process holds it while it opens, closes or replaces files in the directory.
///
/// The system releases the lock when the process ends.
final class DirectoryGate: Sendable {
  let directory: String
  /// The descriptor of the directory, open for the lifetime of the gate.
  let descriptor: Int32

  /// Opens the directory.
  init(_ directory: String) throws(SystemError) {
    let descriptor = unsafe open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError(status: errno, operation: "open \(directory)") }
    self.directory = directory
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Runs `body` while no other process opens, closes or replaces files in the directory.
  ///
  /// Blocks the thread while another process does so. Throws `EWOULDBLOCK` after about ten seconds.
  func hold<Result, Failure: Error>(
    _ wrap: (SystemError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var turn = 0
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, turn < 2000 else {
        throw wrap(SystemError(status: errno, operation: "lock \(directory)"))
      }
      turn += 1
      usleep(5000)
    }
    defer { _ = flock(descriptor, LOCK_UN) }
    return try body()
  }
}
