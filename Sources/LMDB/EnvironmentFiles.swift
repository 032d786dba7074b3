#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which files lie in an environment's directory: what tells two environments apart, whatever path leads there. A
/// directory whose files were both moved away may be opened again beside the environment that still has them open.
struct EnvironmentFiles: Sendable, Equatable {
  struct Identity: Sendable, Equatable {
    let device: UInt64
    let node: UInt64

    init?(of path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      device = UInt64(truncatingIfNeeded: status.st_dev)
      node = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  /// The data file; nil where there is none yet.
  let data: Identity?
  /// The lock file; nil where there is none yet, or ever, on a read-only file system.
  let lock: Identity?

  init(in directory: String) {
    data = Identity(of: "\(directory)/data.mdb")
    lock = Identity(of: "\(directory)/lock.mdb")
  }

  /// Whether any file is the same, so that locks would be dropped, or not be seen.
  func overlap(_ other: EnvironmentFiles) -> Bool {
    (data != nil && data == other.data) || (lock != nil && lock == other.lock)
  }
}
