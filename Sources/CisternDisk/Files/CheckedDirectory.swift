import CisternCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A directory whose names were checked. A look for changed names costs one system call.
///
/// The writer thread uses it before each commit.
struct CheckedDirectory {
  /// The fingerprint of a directory: its identity, and the time of the last change of a name in it.
  struct Fingerprint: Equatable {
    fileprivate let device: UInt64
    fileprivate let node: UInt64
    fileprivate let modified: timespec

    static func == (left: Fingerprint, right: Fingerprint) -> Bool {
      left.device == right.device && left.node == right.node && left.modified.tv_sec == right.modified.tv_sec
        && left.modified.tv_nsec == right.modified.tv_nsec
    }
  }

  private var checked: Fingerprint?

  /// Returns the current fingerprint of the directory, or nil if it cannot be examined.
  static func fingerprint(of directory: String) -> Fingerprint? {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let modified = status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    return Fingerprint(
      device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(truncatingIfNeeded: status.st_ino),
      modified: modified)
  }

  /// Returns whether the names were checked at this fingerprint.
  func isChecked(_ fingerprint: Fingerprint) -> Bool { checked == fingerprint }

  /// Records that the names were checked after the directory had this fingerprint.
  ///
  /// The clock of a file system may stand still for up to two seconds. A younger fingerprint is not kept, because a
  /// later change could have the same one.
  mutating func setChecked(_ fingerprint: Fingerprint) {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    checked = fingerprint.modified.tv_sec + 3 < now.tv_sec ? fingerprint : nil
  }
}
