#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The failure of a system call.
package struct SystemError: Error, CustomStringConvertible {
  package let status: Int32
  package let operation: String

  package init(status: Int32, operation: String) {
    self.status = status
    self.operation = operation
  }

  /// Whether the status of a failed call is about space: of the device, of a quota, or of the process's limit on file
  /// sizes.
  package static func isAboutSpace(_ status: Int32) -> Bool {
    status == ENOSPC || status == EDQUOT || status == EFBIG
  }

  package var description: String {
    unsafe strerror(status).map { unsafe "\(operation): \(String(cString: $0))" } ?? "\(operation): error \(status)"
  }
}
