import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is known of the data file before it is opened: whether it was closed and written through, and if not, in which
/// run of the system it was written. A file that nothing was synchronised to is whole while the system runs, and may be
/// anything after a power cut; opening it then could end the process.
struct BootMark: Equatable, Sendable {
  enum State: String, Sendable {
    /// Everything is on the device, or was written in an order that a power cut does not harm.
    case sound
    /// Commits are in the system's hands only.
    case unsynchronized
    /// The mark itself cannot be read.
    case unreadable
  }

  static let size = 320
  /// The longest name of a run of the system, in bytes; the systems' own have 36.
  static let longestBoot = 64
  private static let heading = "cistern mark 1"

  var state: State
  /// The run of the system in which the mark was written.
  var boot: String
  /// The limit that those who have the store open agreed on.
  var limit: Int
  /// The identity of the data file; nil in a mark of an older version.
  var identity: StoreIdentity?
  /// The data file's stamp as the store left it; nil where nobody can vouch for the file.
  var stamp: DataFileStamp?
  /// How far the data file had come; nil if that is not known.
  var history: DataFileHistory?

  init(
    state: State, boot: String, limit: Int, identity: StoreIdentity? = nil, stamp: DataFileStamp?,
    history: DataFileHistory? = nil
  ) {
    self.state = state
    self.boot = boot
    self.limit = limit
    self.identity = identity
    self.stamp = stamp
    self.history = history
  }

  /// The mark that these bytes are.
  init(_ bytes: ArraySlice<UInt8>) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4, lines[0] == BootMark.heading, let state = State(rawValue: String(lines[1])),
      let limit = Int(lines[3])
    else {
      self.init(state: .unreadable, boot: "", limit: 0, stamp: nil)
      return
    }
    // A mark of an older version has an empty line here, and no history behind the stamp.
    self.init(
      state: state, boot: String(lines[2]), limit: limit, identity: lines.count > 4 ? StoreIdentity(lines[4]) : nil,
      stamp: BootMark.stamp(bytes.dropFirst(BootMark.stampOffset)),
      history: BootMark.history(bytes.dropFirst(BootMark.historyOffset)))
  }

  /// The mark as bytes, always the same number of them: less than a sector, so that it is written whole or not at all.
  var bytes: [UInt8] {
    let boot = String(decoding: boot.utf8.prefix(BootMark.longestBoot), as: UTF8.self)
    let text = "\(BootMark.heading)\n\(state.rawValue)\n\(boot)\n\(limit)\n\(identity?.text ?? "")\n"
    return BootMark.padded(text, to: BootMark.stampOffset) + BootMark.stampBytes(stamp) + BootMark.historyBytes(history)
  }

  /// Whether the data file that this is the mark of can be opened, in this run of the system.
  func isTrustworthy(boot present: @autoclosure () -> String) -> Bool {
    switch state {
    case .sound: true
    case .unsynchronized: !boot.isEmpty && boot == present()
    case .unreadable: false
    }
  }
}

extension BootMark {
  /// Whether it says already what a store that writes through would write: then the device has it, and an opening need not
  /// wait for that. The run of the system does not matter to a sound file.
  func vouches(for present: DataFileStamp?, limit: Int) -> Bool {
    state == .sound && stamp != nil && stamp == present && self.limit == limit
  }
}

/// The present run of the system: another one after each start. Empty where it cannot be told.
func presentBoot() -> String {
  #if canImport(Darwin)
    var size = 0
    guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 0 else { return "" }
    var bytes = [UInt8](repeating: 0, count: size)
    guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return "" }
    return String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
  #else
    let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)).filter { $0 > 32 && $0 < 127 }, as: UTF8.self)
  #endif
}
