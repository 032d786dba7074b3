import CisternCore
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The directory of a store, and the names of the files in it.
package enum DiskDirectory {
  static let data = "data.mdb"
  static let lock = "lock.mdb"
  static let mark = "cistern.mark"
  /// The directory for a compacted copy, before the copy replaces the data file.
  static let copy = "compact.tmp"
  /// The directory for a dense file with the records in order, from which a compacted copy is made.
  static let rewritten = "rewrite.tmp"
  /// A temporary file that tests whether the device has space.
  static let probe = "space.tmp"
  /// The part between the name of a file that was set aside and the number at the end of its new name.
  private static let asideMark = ".set-aside-"

  /// Returns an absolute path, which stays valid if the process changes its working directory.
  static func absolutePath(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/"), let working = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(working) }
    return unsafe "\(String(cString: working))/\(path)"
  }

  /// Creates the directory and its missing parents, unless `isReadOnly` is true. Throws if the directory cannot be
  /// used.
  package static func prepare(_ path: String, isReadOnly: Bool) throws(CisternError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw CisternError(.directoryUnusable, "the path is empty or contains a zero byte", location: path)
    }
    if !isReadOnly {
      do {
        try create(path, mode: 0o700)
      } catch {
        throw unusable(path, error)
      }
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      let error = SystemError(status: errno, operation: "examine the directory")
      // Nothing tried to create the directory.
      if isReadOnly, error.status == ENOENT {
        throw CisternError(
          .directoryUnusable, "the directory does not exist", location: path, cause: error,
          remedy: "Check the path; only a store that is open for writing creates its directory")
      }
      throw unusable(path, error)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CisternError(.directoryUnusable, "the path is not a directory", location: path)
    }
    let wanted = isReadOnly ? R_OK | X_OK : R_OK | W_OK | X_OK
    guard unsafe access(path, wanted) == 0 else {
      throw unusable(path, SystemError(status: errno, operation: isReadOnly ? "read" : "read and write"))
    }
  }

  /// Creates the directory. Creates its missing parents with the default mode.
  private static func create(_ path: String, mode: mode_t) throws(SystemError) {
    if unsafe mkdir(path, mode) == 0 || errno == EEXIST { return }
    let status = errno
    let name = path.utf8.reversed().drop { $0 == UInt8(ascii: "/") }
    let parent = String(decoding: name.drop { $0 != UInt8(ascii: "/") }.reversed(), as: UTF8.self)
    guard status == ENOENT, !parent.isEmpty, parent != path else {
      throw SystemError(status: status, operation: "create \(path)")
    }
    try create(parent, mode: 0o777)
    guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else {
      throw SystemError(status: errno, operation: "create \(path)")
    }
  }

  /// Returns the error for a directory that cannot be used.
  static func unusable(_ path: String, _ cause: any Error) -> CisternError {
    func error(_ code: CisternError.Code, _ message: String, remedy: String? = nil) -> CisternError {
      CisternError(code, message, location: path, cause: cause, remedy: remedy)
    }
    return switch (cause as? SystemError)?.status {
    case let status? where SystemError.isAboutSpace(status):
      CisternError(.noSpace, "the disk has no space for the store", location: path, cause: cause)
    // Another directory, or another owner of this one, would not help.
    case EIO: error(.diskFailed, "the directory could not be read or written", remedy: "Check the disk")
    case EMFILE, ENFILE:
      error(
        .diskFailed, "no file descriptor is left to open the directory",
        remedy: "Close other files, or raise the limit on open files")
    case ENOMEM: error(.diskFailed, "no memory is left to open the directory", remedy: "Free memory")
    case ENOENT:
      error(
        .directoryUnusable, "the directory does not exist, and cannot be created",
        remedy: "Choose a path that exists, or correct its symbolic link")
    case ENOTDIR: error(.directoryUnusable, "a part of the path is a file; choose another path")
    case ENAMETOOLONG: error(.directoryUnusable, "the path, or a name in it, is too long; choose a shorter one")
    case EACCES, EPERM:
      error(
        .directoryUnusable,
        "the directory cannot be used; this user needs permission to create it, or to read and write it")
    case EROFS:
      error(.directoryUnusable, "the file system is read-only; choose another path, or open a read-only store")
    default: error(.directoryUnusable, "the directory cannot be used")
    }
  }

  /// Returns the size of the file in bytes, or nil if it does not exist.
  static func fileSize(_ path: String) -> Int? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Int(status.st_size)
  }

  /// Renames the data file so that no store uses it, and removes LMDB's lock file. Returns the new name.
  ///
  /// Only the newest file that was set aside is kept, because these files do not count towards a limit.
  static func setAside(in directory: String) throws(SystemError) -> String {
    let earlier = asideNumbers(of: data, in: directory)
    let name = "\(directory)/\(asideName(of: data, after: earlier))"
    guard unsafe rename("\(directory)/\(data)", name) == 0 || errno == ENOENT else {
      throw SystemError(status: errno, operation: "set aside \(directory)/\(data)")
    }
    try removeLock(in: directory)
    for number in earlier { unsafe unlink("\(directory)/\(data)\(asideMark)\(number)") }
    return name
  }

  /// Removes LMDB's lock file, which belongs to one data file.
  static func removeLock(in directory: String) throws(SystemError) {
    guard unsafe unlink("\(directory)/\(lock)") == 0 || errno == ENOENT else {
      throw SystemError(status: errno, operation: "remove \(directory)/\(lock)")
    }
  }

  /// Renames folders that have the names of the mark and the lock file, so that they do not prevent an opening. Returns
  /// the names that were renamed, with the new ones.
  ///
  /// Only the data file counts as contents of a store. A folder is therefore kept.
  static func setFoldersAside(in directory: String) -> [(name: String, new: String)] {
    guard [mark, lock].contains(where: { isFolder("\(directory)/\($0)") }) else { return [] }
    // Without the gate, a file of another process that opens the directory at the same time could be renamed. An
    // opening that cannot hold the gate fails later.
    let renamed = try? DirectoryGate(directory).hold({ $0 as any Error }) { () throws(any Error) in
      [mark, lock].filter { isFolder("\(directory)/\($0)") }.compactMap { name -> (name: String, new: String)? in
        let new = asideName(of: name, after: asideNumbers(of: name, in: directory))
        return unsafe rename("\(directory)/\(name)", "\(directory)/\(new)") == 0 ? (name, new) : nil
      }
    }
    return renamed ?? []
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the name for a file that is set aside, with the number after the earlier ones.
  private static func asideName(of name: String, after earlier: [Int]) -> String {
    "\(name)\(asideMark)\((earlier.max() ?? 0) + 1)"
  }

  /// Returns the numbers of the files with this name that were set aside.
  private static func asideNumbers(of name: String, in directory: String) -> [Int] {
    let prefix = name + asideMark
    guard let entries = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(entries) }
    var numbers: [Int] = []
    while let entry = unsafe readdir(entries) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        // In bounds: the system ends each name with a zero byte.
        unsafe name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
          unsafe String(cString: $0)
        }
      }
      // The largest integer has no successor.
      if name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)), number < .max {
        numbers.append(number)
      }
    }
    return numbers
  }

  /// Removes the data file and LMDB's lock file.
  static func removeData(in directory: String) throws(SystemError) {
    for name in [data, lock] {
      guard unsafe unlink("\(directory)/\(name)") == 0 || errno == ENOENT else {
        throw SystemError(status: errno, operation: "remove \(directory)/\(name)")
      }
    }
  }

  /// Removes unfinished copies.
  static func removeCopy(in directory: String) {
    for name in [copy, rewritten] {
      unsafe unlink("\(directory)/\(name)/\(data)")
      unsafe unlink("\(directory)/\(name)/\(lock)")
      unsafe rmdir("\(directory)/\(name)")
    }
  }

  /// Throws if a file has the name of a directory for copies. No store creates such a file, so none removes it.
  static func requireNoFile(named name: String, in directory: String) throws(CisternError) {
    var status = stat()
    guard unsafe lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return }
    throw CisternError(
      .diskFailed, "the file \(name) is in the way: the store needs a directory with this name; remove the file",
      location: directory, remedy: nil)
  }

  /// Waits until the names in the directory are on the device.
  static func synchronize(_ directory: String) throws(SystemError) {
    let descriptor = unsafe open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError(status: errno, operation: "open \(directory)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError(status: errno, operation: "synchronize \(directory)") }
  }
}
