import CisternCore
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identity of a directory, independent of the path that leads to it.
package struct DirectoryIdentity: Hashable, Sendable {
  private let device: UInt64
  private let node: UInt64

  /// Creates the identity of the directory at a path. Follows symbolic links.
  ///
  /// Throws if the directory cannot be examined.
  package init(of directory: String) throws(CisternError) {
    guard let identity = DirectoryIdentity(ifPresent: directory) else {
      throw DiskDirectory.unusable(directory, SystemError(status: errno, operation: "examine \(directory)"))
    }
    self = identity
  }

  /// Creates the identity of the directory at a path. Returns nil and sets `errno` if nothing is there.
  package init?(ifPresent directory: String) {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Creates the identity of an open directory. Returns nil if it cannot be examined.
  init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    node = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
