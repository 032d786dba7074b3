import CisternCore
import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The directory of a backup, and the directory beside it in which the backup is written.
///
/// A backup becomes visible by one rename, after everything is on the device. A process that is killed leaves the
/// directory beside, which the next backup to the same place removes.
struct BackupPlace: Sendable {
  /// The end of the name of the directory in which a backup is written.
  static let suffix = ".incomplete"

  /// The absolute path of the backup, without symbolic links at its end.
  let path: String
  /// The directory in which the backup is written.
  private var work: String { path + BackupPlace.suffix }
  private var parent: String { Self.parent(of: path) ?? "/" }

  /// Returns the directory of a path, as its text names it. Nil for the root.
  private static func parent(of path: String) -> String? {
    guard path != "/" else { return nil }
    let name = path.utf8.reversed().drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
    return name.isEmpty ? "/" : String(decoding: name.reversed(), as: UTF8.self)
  }

  /// Creates the place. Throws if it exists and is not an empty directory, or is in the directory of the store.
  init(_ target: String, source: String) throws(CisternError) {
    guard !target.isEmpty, !target.utf8.contains(0) else {
      throw CisternError(
        .directoryUnusable, "the path of the backup is empty or contains a zero byte", location: target)
    }
    var path = DiskDirectory.absolutePath(target)
    // A rename to a symbolic link would replace the link.
    path = Self.resolved(path) ?? path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    self.path = path
    try requireEmpty()
    guard let store = DirectoryIdentity(ifPresent: source) else { return }
    var ancestor = try firstAncestor()
    while DirectoryIdentity(ifPresent: ancestor) != store {
      guard let above = Self.parent(of: ancestor) else { return }
      ancestor = above
    }
    throw CisternError(
      .directoryUnusable, "the backup would be in the directory of the store; choose another place", location: path)
  }

  /// Returns the absolute path, without symbolic links, of the first directory above the backup that exists.
  ///
  /// The writing creates the others. It could create them in the directory of the store if `..` followed one of them.
  private func firstAncestor() throws(CisternError) -> String {
    var ancestor = path
    while let above = Self.parent(of: ancestor) {
      if ancestor.utf8.suffix(3).elementsEqual("/..".utf8) {
        throw CisternError(
          .directoryUnusable, "the path contains \"..\" after a directory that does not exist; use a path without it",
          location: path)
      }
      if let resolved = Self.resolved(above) { return resolved }
      ancestor = above
    }
    return "/"
  }

  /// Returns the absolute path without symbolic links; nil if nothing is there.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  private func requireEmpty() throws(CisternError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw unusable(SystemError(status: errno, operation: "examine \(path)"))
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CisternError(.directoryUnusable, "the path of the backup is not a directory", location: path)
    }
    guard try isEmpty(path) else { throw notEmpty }
  }

  private var notEmpty: CisternError {
    CisternError(
      .directoryUnusable, "the directory is not empty; a backup needs a new or an empty directory", location: path)
  }

  private func isEmpty(_ directory: String) throws(CisternError) -> Bool {
    guard let entries = unsafe opendir(directory) else {
      throw unusable(SystemError(status: errno, operation: "examine \(directory)"))
    }
    defer { unsafe closedir(entries) }
    var count = 0
    // The system lists the directory itself and its parent.
    while count < 3, unsafe readdir(entries) != nil { count += 1 }
    return count < 3
  }

  private func unusable(_ error: SystemError) -> CisternError { DiskDirectory.unusable(path, error) }

  // MARK: Writing

  /// Writes a copy of the file, with the limit of its store.
  func write(copyOf file: DiskFile, limit: ByteCount, _ read: LongRead) throws {
    try DiskDirectory.prepare(work, isReadOnly: false)
    let lock = unsafe open(work, O_RDONLY | O_CLOEXEC)
    guard lock >= 0 else { throw unusable(SystemError(status: errno, operation: "open \(work)")) }
    defer { close(lock) }
    // The system releases the lock when the process ends.
    // A backup that has ended since has renamed the directory.
    guard flock(lock, LOCK_EX | LOCK_NB) == 0, DirectoryClaim.isOpen(lock, at: work) else {
      throw CisternError(.storeInUse, "another backup writes to this place; try again later", location: path)
    }
    removeFiles()
    guard try isEmpty(work) else {
      throw CisternError(
        .directoryUnusable, "the directory contains files that are no part of a backup; remove them", location: work)
    }
    do {
      try copy(file, limit, read)
      try read.requireUninterrupted()
      try DiskDirectory.synchronize(work)
      try publish()
    } catch {
      removeFiles()
      unsafe rmdir(work)
      throw error
    }
    try DiskDirectory.synchronize(parent)
  }

  private func removeFiles() {
    for name in [DiskDirectory.data, DiskDirectory.lock, DiskDirectory.mark] { unsafe unlink("\(work)/\(name)") }
  }

  private func copy(_ file: DiskFile, _ limit: ByteCount, _ read: LongRead) throws {
    try file.environment.copy(to: work, compacting: true, until: read.copyStop)
    let opening = DiskOpening(
      directory: work, options: DiskOptions(limit: limit, layout: file.layout.kind),
      limits: try DiskLimits(limit, location: work))
    // The mark vouches for the pages of the copy, so that an opening does not check them.
    if case .failure(let damage) = try opening.checkStructure() {
      throw CisternError(
        .diskFailed, "the data file is damaged, so it was not copied: \(damage)", location: file.environment.directory)
    }
    let identity = try assignIdentity(opening)
    unsafe unlink("\(work)/\(DiskDirectory.lock)")
    let claim = try DirectoryClaim(directory: work, isReadOnly: false)
    try claim.write(
      BootMark(
        state: .sound, boot: currentBoot(), limit: limit.bytes,
        file: MarkedFile(at: opening.path, identity: identity)))
  }

  /// Gives the copy another identity. The data files of the store and of the copy cannot be confused then.
  private func assignIdentity(_ opening: DiskOpening) throws(LMDBError) -> StoreIdentity? {
    let room = BackupPlace.pagesForIdentity * DiskLimits.pageSize
    let copy = try DiskFile.open(
      directory: work, options: opening.environmentOptions(mapSize: opening.currentMapSize + room),
      layout: .only(opening.options.layoutOfNewFile))
    do throws(LMDBError) {
      try copy.assignIdentity()
    } catch {
      // The first error is the cause.
      try? copy.close()
      throw error
    }
    try copy.close()
    return copy.identity
  }

  /// The number of pages that the file may grow by. A change copies the pages of its path.
  private static let pagesForIdentity = 64

  /// Renames the directory to the place of the backup. Replaces only an empty directory.
  private func publish() throws(CisternError) {
    guard unsafe rename(work, path) != 0 else { return }
    switch errno {
    case EEXIST, ENOTEMPTY, ENOTDIR: throw notEmpty
    case EBUSY, EXDEV:
      throw CisternError(
        .directoryUnusable, "the directory is the root of a file system; choose a directory inside it", location: path)
    case let status: throw unusable(SystemError(status: status, operation: "rename \(work) to \(path)"))
    }
  }
}
