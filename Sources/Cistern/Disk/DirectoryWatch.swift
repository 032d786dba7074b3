#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tells by one call of the system whether any name in a directory may have changed since all were checked. The writer
/// thread asks before each commit.
struct DirectoryWatch {
  /// The directory at the path, and the time of the last change of a name in it.
  struct Stamp: Equatable {
    fileprivate let device: UInt64
    fileprivate let node: UInt64
    fileprivate let modified: timespec

    static func == (left: Stamp, right: Stamp) -> Bool {
      left.device == right.device && left.node == right.node && left.modified.tv_sec == right.modified.tv_sec
        && left.modified.tv_nsec == right.modified.tv_nsec
    }
  }

  private var checked: Stamp?

  /// The present stamp of the directory; nil if it cannot be examined.
  static func stamp(of directory: String) -> Stamp? {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let modified = status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    return Stamp(
      device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(truncatingIfNeeded: status.st_ino),
      modified: modified)
  }

  /// Whether the names are the ones that were checked.
  func isChecked(_ stamp: Stamp) -> Bool { checked == stamp }

  /// The names were checked after the directory had this stamp.
  ///
  /// A file system's clock may stand still for up to two seconds. A stamp that is younger is not kept: a later change could
  /// have the same.
  mutating func note(_ stamp: Stamp) {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    checked = stamp.modified.tv_sec + 3 < now.tv_sec ? stamp : nil
  }
}
