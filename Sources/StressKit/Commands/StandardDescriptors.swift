#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The descriptors 0, 1 and 2 of the process, which a caller may have closed.
package enum StandardDescriptors {
  /// Opens each of them that is closed, in the direction that the program does not use, so that reading or writing still
  /// fails.
  ///
  /// Call it before the program opens any file. The system gives a file the lowest free number: a store's data file could
  /// become descriptor 1, and a message would be written into it.
  package static func occupyClosed() {
    occupy(STDIN_FILENO, with: O_WRONLY)
    occupy(STDOUT_FILENO, with: O_RDONLY)
    occupy(STDERR_FILENO, with: O_RDONLY)
  }

  private static func occupy(_ descriptor: Int32, with direction: Int32) {
    guard fcntl(descriptor, F_GETFD) == -1, errno == EBADF else { return }
    // The path ends with a zero byte, and the call keeps nothing of it.
    _ = unsafe open("/dev/null", direction)
  }
}
