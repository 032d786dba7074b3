#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The descriptors 0, 1 and 2 of the process. The program's caller may have closed them.
package enum StandardDescriptors {
  /// Opens each closed standard descriptor in the direction that the program does not use. Reads and writes still
  /// fail.
  ///
  /// Call this method before the program opens any file. Otherwise, the system could give descriptor 1 to a store's
  /// data file, and a message would then overwrite the file.
  package static func occupyClosed() {
    occupy(STDIN_FILENO, with: O_WRONLY)
    occupy(STDOUT_FILENO, with: O_RDONLY)
    occupy(STDERR_FILENO, with: O_RDONLY)
  }

  /// Makes a write to a pipe without a reader fail, instead of ending the process with SIGPIPE.
  ///
  /// A command must still complete its other work, such as the report in a file.
  package static func survivePipesWithoutReaders() {
    signal(SIGPIPE, SIG_IGN)
  }

  private static func occupy(_ descriptor: Int32, with direction: Int32) {
    guard fcntl(descriptor, F_GETFD) == -1, errno == EBADF else { return }
    // The path is a terminated string, and the call does not keep its address.
    _ = unsafe open("/dev/null", direction)
  }
}
