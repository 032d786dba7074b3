import CisternCore
import LMDB

/// The state of a data file, stored in a separate file that is read before LMDB maps the data file.
///
/// The mark says whether the data file can be trusted after a power cut, and in which boot session it was written.
/// A file without synchronized commits is complete while the system runs. After a power cut, it may hold anything,
/// and opening it could crash the process.
package struct BootMark: Equatable, Sendable {
  package enum State: String, Sendable {
    /// Everything is on the device, or was written in an order that survives a power cut.
    case sound
    /// The operating system has the commits. The device may not have them.
    case unsynchronized
    /// The commits could not be written through. A later write-through can succeed although the device lacks their
    /// pages.
    case failed
    /// The mark is damaged.
    case unreadable
  }

  /// The length of the encoded mark in bytes.
  static let size = 320
  /// The maximum length of a boot session identifier, in bytes. The systems' identifiers have 36.
  package static let longestBoot = 64
  private static let heading = "cistern mark 1"

  package var state: State
  /// The identifier of the boot session in which the mark was written.
  package var boot: String
  /// The disk limit in bytes, on which all processes with the open store agree.
  var limit: Int
  /// The data file, as far as the store knows it.
  var file: MarkedFile

  init(state: State, boot: String, limit: Int, file: MarkedFile = MarkedFile()) {
    self.state = state
    self.boot = boot
    self.limit = limit
    self.file = file
  }

  /// Decodes a mark. The state is `unreadable` if the bytes are not a mark.
  package init(_ bytes: ArraySlice<UInt8>) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4, lines[0] == BootMark.heading, let state = State(rawValue: String(lines[1])),
      let limit = Int(lines[3])
    else {
      self.init(state: .unreadable, boot: "", limit: 0)
      return
    }
    // A mark of an older version has an empty line instead of the identity, and no history.
    self.init(
      state: state, boot: String(lines[2]), limit: limit,
      file: MarkedFile(
        identity: lines.count > 4 ? StoreIdentity(lines[4]) : nil,
        fingerprint: BootMark.fingerprint(bytes.dropFirst(BootMark.fingerprintOffset)),
        history: BootMark.history(bytes.dropFirst(BootMark.historyOffset))))
  }

  /// The encoded mark, which always has the same length.
  ///
  /// The mark is smaller than a sector, so that the device writes it completely or not at all.
  package var bytes: [UInt8] {
    let boot = String(decoding: boot.utf8.prefix(BootMark.longestBoot), as: UTF8.self)
    let text = "\(BootMark.heading)\n\(state.rawValue)\n\(boot)\n\(limit)\n\(file.identity?.text ?? "")\n"
    return BootMark.padded(text, to: BootMark.fingerprintOffset) + BootMark.fingerprintBytes(file.fingerprint)
      + BootMark.historyBytes(file.history)
  }

  /// Returns whether LMDB can open the data file of this mark in the current boot session.
  func isTrustworthy(boot current: @autoclosure () -> String) -> Bool {
    switch state {
    case .sound: true
    case .unsynchronized: !boot.isEmpty && boot == current()
    case .failed, .unreadable: false
    }
  }

  /// Whether a close that has written the file through can mark it as sound.
  ///
  /// A damaged mark may have told that another process failed to do so.
  var canBecomeSound: Bool { state == .sound || state == .unsynchronized }
}

extension BootMark {
  /// Returns whether the mark already says what a store with synchronized commits would write.
  ///
  /// The device then has the mark, and an opening does not wait for it. The boot session does not matter for a
  /// sound file.
  func isValid(for current: DataFileFingerprint?, limit: Int) -> Bool {
    state == .sound && file.fingerprint != nil && file.fingerprint == current && self.limit == limit
  }
}
