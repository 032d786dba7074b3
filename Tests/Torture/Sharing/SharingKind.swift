import Cistern

/// A kind of round of the trial with several processes.
enum SharingKind: String, CaseIterable {
  /// The disk has space for everything, and memory holds no value, so that each read comes from disk.
  case roomy
  /// Each process also keeps values in memory.
  case cached
  /// The disk evicts.
  case small
  /// Each opening draws another limit.
  case shrinking
  /// Each opening draws another schema version.
  case versions

  var memoryLimit: ByteCount { self == .cached ? .mebibytes(1) : .bytes(1) }

  /// Whether every committed value stays readable by every process.
  var keepsEverything: Bool { self == .roomy || self == .cached }

  /// Whether a read comes from disk, so that reads of several processes must agree.
  var readsDisk: Bool { self != .cached }

  func diskLimit(_ random: inout Mixer) -> ByteCount {
    switch self {
    case .roomy, .cached, .versions: .mebibytes(16)
    case .small: .kibibytes(512)
    case .shrinking: [.kibibytes(512), .mebibytes(1), .mebibytes(4)][random.next(below: 3)]
    }
  }

  func schemaVersion(_ random: inout Mixer) -> UInt32 {
    self == .versions ? UInt32(1 + random.next(below: 3)) : 1
  }
}
