#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identities of the files in an environment's directory, which identify the environment independently of the
/// path.
///
/// If both files were moved away, the directory can be opened again while the first environment still uses the old
/// files.
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

  /// The data file, or nil if it does not exist yet.
  let data: Identity?
  /// The lock file, or nil if it does not exist. A read-only file system may never have one.
  let lock: Identity?

  init(in directory: String) {
    data = Identity(of: "\(directory)/data.mdb")
    lock = Identity(of: "\(directory)/lock.mdb")
  }

  /// Returns whether both have a file in common. Opening them separately would drop locks or hide them.
  func overlap(_ other: EnvironmentFiles) -> Bool {
    (data != nil && data == other.data) || (lock != nil && lock == other.lock)
  }
}
