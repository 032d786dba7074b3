import CisternCore
import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// This process's claim on a directory that several processes may share.
///
/// The claim uses two advisory locks, which the system releases when the process ends:
/// - The gate (``DirectoryGate``) is a lock on the directory. A process holds it while it opens, closes or replaces
///   files.
/// - A process that has the store open holds a shared lock on the mark file. A process that gets this lock
///   exclusively is alone.
final class DirectoryClaim: Sendable {
  let directory: String
  private let gate: DirectoryGate
  /// The descriptor of the mark file, open for the lifetime of the claim. It is -1 if a read-only store has no mark.
  private let mark: Int32

  /// Opens the directory and the mark file. Creates the mark file unless `isReadOnly` is true.
  init(directory: String, isReadOnly: Bool) throws(SystemError) {
    self.directory = directory
    gate = try DirectoryGate(directory)
    let path = "\(directory)/\(DiskDirectory.mark)"
    mark = unsafe isReadOnly ? open(path, O_RDONLY | O_CLOEXEC) : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if mark < 0, !(isReadOnly && errno == ENOENT) {
      throw SystemError(status: errno, operation: "open \(path)")
    }
  }

  deinit {
    if mark >= 0 { close(mark) }
  }

  /// The identity of the claimed directory, or nil if it cannot be examined. No other directory has it while the claim
  /// exists.
  var directoryIdentity: DirectoryIdentity? { DirectoryIdentity(descriptor: gate.descriptor) }

  /// Runs `body` inside the gate. See ``DirectoryGate/hold(_:_:)``.
  func withGate<Result, Failure: Error>(
    _ wrap: (SystemError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try gate.hold(wrap, body)
  }

  /// Returns whether no other process has the store open.
  ///
  /// If it returns true, the lock on the mark is exclusive, or the store is read-only and has no mark.
  ///
  /// Call this method only inside the gate. The attempt can release a shared lock, so call ``share()`` afterwards.
  func isAlone() -> Bool {
    mark < 0 || flock(mark, LOCK_EX | LOCK_NB) == 0
  }

  /// Takes the shared lock on the mark, so that other processes can open the store. Call this method only inside
  /// the gate.
  func share() {
    if mark >= 0 { _ = flock(mark, LOCK_SH | LOCK_NB) }
  }

  /// Returns whether the claimed directory and mark are still the ones at the path.
  ///
  /// Processes with claims on different directories or marks do not see each other.
  func isInPlace() -> Bool {
    DirectoryClaim.isOpen(gate.descriptor, at: directory)
      && (mark < 0 || DirectoryClaim.isOpen(mark, at: "\(directory)/\(DiskDirectory.mark)"))
  }

  /// Returns whether the descriptor is the directory or file at the path.
  static func isOpen(_ descriptor: Int32, at path: String) -> Bool {
    var own = stat()
    var current = stat()
    guard unsafe fstat(descriptor, &own) == 0, unsafe stat(path, &current) == 0 else { return false }
    return own.st_dev == current.st_dev && own.st_ino == current.st_ino
  }

  /// Releases the lock on the mark before the claim ends. Another process may then be alone.
  func leave() {
    if mark >= 0 { _ = flock(mark, LOCK_UN) }
  }

  /// Returns the mark, or nil if the file is empty or missing.
  func readMark() throws(SystemError) -> BootMark? {
    guard mark >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: BootMark.size)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(mark, $0.baseAddress, $0.count, 0) }
    // Only a read-only store opens a folder. It must not rename it.
    if count < 0, errno == EISDIR { return BootMark([]) }
    guard count >= 0 else { throw SystemError(status: errno, operation: "read the mark in \(directory)") }
    return count == 0 ? nil : BootMark(bytes[..<count])
  }

  /// Writes the mark, and waits until it is on the device.
  ///
  /// If the mark on the device may not say `sound` yet, the fingerprint is written in a second step. A mark with
  /// `sound` and a fingerprint therefore proves that the device has the word `sound`.
  func write(_ newMark: BootMark) throws(SystemError) {
    // A mark that cannot be read may say anything.
    if newMark.state == .sound, newMark.file.fingerprint != nil, (try? readMark())?.state != .sound {
      var word = newMark
      word.file.fingerprint = nil
      try put(word)
    }
    try put(newMark)
  }

  /// Marks the data file as one that may lack pages, unless each of its commits was written through. Call this method
  /// only inside the gate.
  ///
  /// Linux reports a failed write-through once. Then it takes the pages for written.
  func noteFailedSynchronization() {
    guard var mark = try? readMark(), mark.state == .unsynchronized else { return }
    mark.state = .failed
    // The system has the word even if the device refuses it.
    try? write(mark)
  }

  private func put(_ newMark: BootMark) throws(SystemError) {
    let bytes = newMark.bytes
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(mark, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else {
      // The system cuts a write short if the device has no room for it.
      throw SystemError(status: count < 0 ? errno : ENOSPC, operation: "write the mark in \(directory)")
    }
    guard fsync(mark) == 0 else { throw SystemError(status: errno, operation: "write the mark in \(directory)") }
  }

  /// Writes the data file's fingerprint into the mark, or removes it, without waiting for the device.
  ///
  /// After a power cut, the mark may have another fingerprint, and the next opening checks the whole file. If
  /// `history` is nil, the recorded history stays.
  func note(_ fingerprint: DataFileFingerprint?, _ history: DataFileHistory? = nil) {
    put(BootMark.fingerprintBytes(fingerprint) + (history == nil ? [] : BootMark.historyBytes(history)))
  }

  /// Removes the fingerprint and the history from the mark, because another data file replaces the current one.
  func forgetDataFile() {
    put(BootMark.fingerprintBytes(nil) + BootMark.historyBytes(nil))
  }

  private func put(_ bytes: [UInt8]) {
    guard mark >= 0 else { return }
    // If the write fails, the old fingerprint does not match the changed file, which has the same effect.
    _ = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(mark, $0.baseAddress, $0.count, off_t(BootMark.fingerprintOffset))
    }
  }

  /// Returns the fingerprint that a process recorded last, or nil if the mark has none or cannot be read.
  func notedFingerprint() -> DataFileFingerprint? {
    (try? readMark())?.file.fingerprint
  }
}
