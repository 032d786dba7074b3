#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identity of a directory, by whatever path it is reached.
struct DirectoryIdentity: Hashable, Sendable {
  private let device: UInt64
  private let node: UInt64

  /// Follows symbolic links. Throws if the directory cannot be examined.
  init(of directory: String) throws(CisternError) {
    guard let identity = DirectoryIdentity(ifPresent: directory) else {
      throw DiskDirectory.unusable(directory, SystemError(status: errno, operation: "look at \(directory)"))
    }
    self = identity
  }

  /// Nil if nothing is at the path, with `errno` set.
  init?(ifPresent directory: String) {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    node = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
