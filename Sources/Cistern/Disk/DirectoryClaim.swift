import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// This process's part in a directory that several may share, told to the others by locks of the system's, which end with
/// the process.
///
/// Who opens, closes or replaces files holds the gate meanwhile: a lock on the directory itself. Who has the store open
/// shares a lock on the mark's file; whoever can have that alone, is alone.
final class DirectoryClaim: Sendable {
  let directory: String
  /// The descriptors, for the claim's whole life; the mark's is -1 where a read-only store has no mark.
  private let gate: Int32
  private let mark: Int32

  /// Opens the mark's file, and creates it unless `isReadOnly`.
  init(directory: String, isReadOnly: Bool) throws(SystemError) {
    self.directory = directory
    gate = unsafe open(directory, O_RDONLY | O_CLOEXEC)
    guard gate >= 0 else { throw SystemError(status: errno, operation: "open \(directory)") }
    let path = "\(directory)/\(DiskDirectory.mark)"
    mark = unsafe isReadOnly ? open(path, O_RDONLY | O_CLOEXEC) : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if mark < 0, !(isReadOnly && errno == ENOENT) {
      let status = errno
      close(gate)
      throw SystemError(status: status, operation: "open \(path)")
    }
  }

  deinit {
    if mark >= 0 { close(mark) }
    close(gate)
  }

  /// Runs `body` while no other process opens, closes or replaces files here. Waits for one that does; throws `EWOULDBLOCK`
  /// after ten seconds.
  func withGate<Result, Failure: Error>(
    _ wrap: (SystemError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var turn = 0
    while flock(gate, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, turn < 2000 else {
        throw wrap(SystemError(status: errno, operation: "wait for another process at \(directory)"))
      }
      turn += 1
      usleep(5000)
    }
    defer { _ = flock(gate, LOCK_UN) }
    return try body()
  }

  /// Whether no other process has the store open. Only inside the gate; the claim is exclusive after true.
  func isAlone() -> Bool {
    mark < 0 || flock(mark, LOCK_EX | LOCK_NB) == 0
  }

  /// Shares the store with others from now on. Only inside the gate.
  func share() {
    if mark >= 0 { _ = flock(mark, LOCK_SH | LOCK_NB) }
  }

  /// Whether the directory at the path, and the mark in it, are the ones that are claimed. Processes whose claims are on
  /// different ones do not see each other.
  func isInPlace() -> Bool {
    DirectoryClaim.isOpen(gate, at: directory)
      && (mark < 0 || DirectoryClaim.isOpen(mark, at: "\(directory)/\(DiskDirectory.mark)"))
  }

  private static func isOpen(_ descriptor: Int32, at path: String) -> Bool {
    var own = stat()
    var present = stat()
    guard unsafe fstat(descriptor, &own) == 0, unsafe stat(path, &present) == 0 else { return false }
    return own.st_dev == present.st_dev && own.st_ino == present.st_ino
  }

  /// Ends the sharing, before the claim itself goes: others may be alone from now on.
  func leave() {
    if mark >= 0 { _ = flock(mark, LOCK_UN) }
  }

  /// The mark; nil where there is none yet.
  func readMark() throws(SystemError) -> BootMark? {
    guard mark >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: BootMark.size)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(mark, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw SystemError(status: errno, operation: "read the mark in \(directory)") }
    return count == 0 ? nil : BootMark(bytes[..<count])
  }

  /// Writes the mark, and waits until it is on the device.
  ///
  /// A mark that says "sound" where the one on the device may not has its stamp only once that is done: whoever finds a
  /// stamp beside that word knows that the device has the word.
  func write(_ newMark: BootMark) throws(SystemError) {
    if newMark.state == .sound, newMark.stamp != nil, (try? readMark())?.state != .sound {
      var word = newMark
      word.stamp = nil
      try put(word)
    }
    try put(newMark)
  }

  private func put(_ newMark: BootMark) throws(SystemError) {
    let bytes = newMark.bytes
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(mark, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else {
      throw SystemError(status: count < 0 ? errno : EIO, operation: "write the mark in \(directory)")
    }
    guard fsync(mark) == 0 else { throw SystemError(status: errno, operation: "write the mark in \(directory)") }
  }

  /// Writes the data file's stamp into the mark, or removes it, and does not wait for the device. A power cut leaves this
  /// stamp or another; with another, the next opening looks through the file. If `history` is nil, the noted one stays.
  func note(_ stamp: DataFileStamp?, _ history: DataFileHistory? = nil) {
    put(BootMark.stampBytes(stamp) + (history == nil ? [] : BootMark.historyBytes(history)))
  }

  /// Writes into the mark that nothing is known of the data file: another one replaces it.
  func forgetDataFile() {
    put(BootMark.stampBytes(nil) + BootMark.historyBytes(nil))
  }

  private func put(_ bytes: [UInt8]) {
    guard mark >= 0 else { return }
    // Where it cannot be written, what is there does not fit the file any more, which is as good.
    _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(mark, $0.baseAddress, $0.count, off_t(BootMark.stampOffset)) }
  }

  /// The stamp that is noted now, by whichever process; nil where there is none.
  func notedStamp() -> DataFileStamp? {
    (try? readMark())?.stamp
  }
}
