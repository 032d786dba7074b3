import CisternCore
import Locking
import Synchronization

/// The formats of a partition's records, one for each schema version.
final class PartitionFormats: Sendable {
  /// The codec that the file names for a version.
  private enum CodecInFile: Sendable {
    /// The file names none, or no commit has compared it.
    case unknown
    case same
    /// Records of the format are not committed.
    case other(String, isReported: Bool)

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
    var isOther: Bool { if case .other = self { true } else { false } }
  }

  private struct KnownFormat: Sendable {
    let codec: String
    var inFile = CodecInFile.unknown
    /// The registration that all openings with the format share. Only a confirmed format is written.
    let registration = FormatRegistration()
    /// The number of openings with the format that have not failed. A confirmed format has at least one.
    var openings = 1
  }

  /// The answer to an opening with a format.
  enum RegistrationResult: Sendable {
    case registered(FormatRegistration)
    /// The version has another codec.
    case conflicting(codec: String)
  }

  private let known = Guarded<[UInt32: KnownFormat]>([:])
  /// Whether the codec in the file is unknown for one of the formats. Each commit reads it without the lock. It changes
  /// only under the lock of `known`.
  private let hasUnknown = Atomic<Bool>(false)
  /// Whether the file names another codec for one of the known formats. The commit of each record reads it without the
  /// lock. It changes only under the lock of `known`.
  private let hasOther = Atomic<Bool>(false)

  /// Whether the file names another codec for one of the known formats. Takes no lock.
  var hasConflicts: Bool { hasOther.load(ordering: .acquiring) }

  func isKnown(_ schemaVersion: UInt32) -> Bool { known.withLock { $0[schemaVersion] != nil } }

  /// Adds an opening with the format, unless the version has another codec.
  ///
  /// The next commit compares a new format with the file, which another file can have replaced since the opening read
  /// it.
  ///
  /// - Parameter format: The format.
  /// - Returns: The registration, or the other codec.
  func register(_ format: ValueFormat) -> RegistrationResult {
    known.withLock { known in
      if let other = known[format.schemaVersion] {
        guard other.codec == format.codec else { return .conflicting(codec: other.codec) }
        if case .other(let codec, _) = other.inFile { return .conflicting(codec: codec) }
        known[format.schemaVersion]?.openings += 1
        return .registered(other.registration)
      }
      let new = KnownFormat(codec: format.codec)
      known[format.schemaVersion] = new
      hasUnknown.store(true, ordering: .releasing)
      return .registered(new.registration)
    }
  }

  /// Removes an opening with the format, which has failed. Forgets the format if it was the only one.
  func unregister(_ format: ValueFormat) {
    known.withLock { known in
      guard var left = known[format.schemaVersion], left.codec == format.codec else { return }
      left.openings -= 1
      known[format.schemaVersion] = left.openings > 0 ? left : nil
      noteStates(of: known)
    }
  }

  /// The confirmed formats to compare with the file, and to write if it names none.
  var unwritten: [ValueFormat] {
    guard hasUnknown.load(ordering: .acquiring) else { return [] }
    return known.withLock { known in
      known.filter { $0.value.inFile.isUnknown && $0.value.registration.isConfirmed }
        .map { ValueFormat(codec: $0.value.codec, schemaVersion: $0.key) }
    }
  }

  /// Records that the file names the format.
  func noteWritten(_ format: ValueFormat) {
    known.withLock { known in
      known[format.schemaVersion]?.inFile = .same
      noteStates(of: known)
    }
  }

  /// Records that the file names another codec for the version of the format.
  func noteConflict(of format: ValueFormat, with otherCodec: String) {
    known.withLock { known in
      known[format.schemaVersion]?.inFile = .other(otherCodec, isReported: false)
      noteStates(of: known)
    }
  }

  /// Returns the format of a version that no commit has compared with the file; nil for none.
  func uncomparedFormat(ofVersion schemaVersion: UInt32) -> ValueFormat? {
    guard hasUnknown.load(ordering: .acquiring) else { return nil }
    return known.withLock { known -> ValueFormat? in
      guard let format = known[schemaVersion], format.inFile.isUnknown else { return nil }
      return ValueFormat(codec: format.codec, schemaVersion: schemaVersion)
    }
  }

  /// Returns the conflict of a version's format with the file. Returns nil if the formats are equal.
  func conflict(ofVersion schemaVersion: UInt32) -> FormatConflict? {
    guard hasConflicts else { return nil }
    return known.withLock { known -> FormatConflict? in
      guard let format = known[schemaVersion], case .other(let otherCodec, _) = format.inFile else { return nil }
      return FormatConflict(
        format: ValueFormat(codec: format.codec, schemaVersion: schemaVersion), otherCodec: otherCodec)
    }
  }

  /// Returns whether the conflict of a version must be reported. Only the first call does.
  func takeConflictReport(ofVersion schemaVersion: UInt32) -> Bool {
    known.withLock { known -> Bool in
      guard case .other(let codec, isReported: false)? = known[schemaVersion]?.inFile else { return false }
      known[schemaVersion]?.inFile = .other(codec, isReported: true)
      return true
    }
  }

  /// Updates the flags that are read without the lock. Must be called under it.
  private func noteStates(of known: [UInt32: KnownFormat]) {
    hasUnknown.store(known.values.contains { $0.inFile.isUnknown }, ordering: .releasing)
    hasOther.store(known.values.contains { $0.inFile.isOther }, ordering: .releasing)
  }

  /// Forgets the codecs that the file names, because another file replaced it.
  func forgetFile() {
    known.withLock { known in
      for version in known.keys { known[version]?.inFile = .unknown }
      noteStates(of: known)
    }
  }
}
