import CisternCore
import Locking
import Synchronization

/// The formats of a partition's records, one for each schema version.
final class PartitionFormats: Sendable {
  private struct KnownFormat: Sendable {
    let codec: String
    /// Whether the file names a codec of the version.
    var isWritten: Bool
    /// The codec that the file names, if it is another one. Records of the format are then not committed.
    var otherCodec: String?
    /// Whether the conflict of the two codecs was reported.
    var hasReport = false
    /// The claim that all openings with the format share. Only a confirmed format is written.
    let claim = FormatClaim()
    /// The number of openings with the format that have not failed. A confirmed format has at least one.
    var openings = 1
  }

  /// The answer to an opening with a format.
  enum Adoption: Sendable {
    case claimed(FormatClaim)
    /// The version has another codec.
    case conflicting(codec: String)
  }

  private let known = Guarded<[UInt32: KnownFormat]>([:])
  /// Whether the file does not name one of the known formats. Each commit reads it without the lock. It changes
  /// only under the lock of `known`.
  private let hasUnwritten = Atomic<Bool>(false)
  /// Whether the file names another codec for one of the known formats. The commit of each record reads it without the lock. It
  /// changes only under the lock of `known`.
  private let hasConflicts = Atomic<Bool>(false)

  func isKnown(_ schemaVersion: UInt32) -> Bool { known.withLock { $0[schemaVersion] != nil } }

  /// Adds an opening with the format, unless the version has another codec.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - isWritten: Whether the file names the format.
  /// - Returns: The claim, or the other codec.
  func adopt(_ format: ValueFormat, isWritten: Bool) -> Adoption {
    known.withLock { known in
      if let other = known[format.schemaVersion] {
        guard other.codec == format.codec else { return .conflicting(codec: other.codec) }
        if let otherCodec = other.otherCodec { return .conflicting(codec: otherCodec) }
        known[format.schemaVersion]?.openings += 1
        return .claimed(other.claim)
      }
      let new = KnownFormat(codec: format.codec, isWritten: isWritten)
      known[format.schemaVersion] = new
      if !isWritten { hasUnwritten.store(true, ordering: .releasing) }
      return .claimed(new.claim)
    }
  }

  /// Removes an opening with the format, which has failed. Forgets the format if it was the only one.
  func withdraw(_ format: ValueFormat) {
    known.withLock { known in
      guard var left = known[format.schemaVersion], left.codec == format.codec else { return }
      left.openings -= 1
      known[format.schemaVersion] = left.openings > 0 ? left : nil
      noteStates(of: known)
    }
  }

  /// The confirmed formats that the file does not name yet.
  var unwritten: [ValueFormat] {
    guard hasUnwritten.load(ordering: .acquiring) else { return [] }
    return known.withLock { known in
      known.filter { !$0.value.isWritten && $0.value.claim.isConfirmed }
        .map { ValueFormat(codec: $0.value.codec, schemaVersion: $0.key) }
    }
  }

  /// Marks the format as written to the file.
  func noteWritten(_ format: ValueFormat) {
    known.withLock { known in
      known[format.schemaVersion]?.isWritten = true
      noteStates(of: known)
    }
  }

  /// Records that the file names another codec for the version of the format.
  func noteConflict(of format: ValueFormat, with otherCodec: String) {
    known.withLock { known in
      known[format.schemaVersion]?.isWritten = true
      known[format.schemaVersion]?.otherCodec = otherCodec
      noteStates(of: known)
    }
  }

  /// Returns the conflict of a version's format with the file. Returns nil if the formats are equal.
  func conflict(ofVersion schemaVersion: UInt32) -> FormatConflict? {
    guard hasConflicts.load(ordering: .acquiring) else { return nil }
    return known.withLock { known -> FormatConflict? in
      guard let format = known[schemaVersion], let otherCodec = format.otherCodec else { return nil }
      return FormatConflict(
        format: ValueFormat(codec: format.codec, schemaVersion: schemaVersion), otherCodec: otherCodec)
    }
  }

  /// Returns whether the conflict of a version must be reported. Only the first call does.
  func takeConflictReport(ofVersion schemaVersion: UInt32) -> Bool {
    known.withLock { known -> Bool in
      guard let format = known[schemaVersion], format.otherCodec != nil, !format.hasReport else { return false }
      known[schemaVersion]?.hasReport = true
      return true
    }
  }

  /// Updates the flags that are read without the lock. Must be called under it.
  private func noteStates(of known: [UInt32: KnownFormat]) {
    hasUnwritten.store(known.values.contains { !$0.isWritten }, ordering: .releasing)
    hasConflicts.store(known.values.contains { $0.otherCodec != nil }, ordering: .releasing)
  }

  /// Marks all formats as unwritten after another file replaced the old one.
  func forgetFile() {
    known.withLock { known in
      for version in known.keys {
        known[version]?.isWritten = false
        known[version]?.otherCodec = nil
        known[version]?.hasReport = false
      }
      noteStates(of: known)
    }
  }
}
