import CisternCore
import Locking
import Synchronization

/// The formats of a partition's records, one for each schema version.
final class PartitionFormats: Sendable {
  private struct KnownFormat: Sendable {
    let codec: String
    var isWritten: Bool
  }

  private let known = Guarded<[UInt32: KnownFormat]>([:])
  /// Whether the file does not name one of the known formats. Each commit reads it without the lock. It changes
  /// only under the lock of `known`.
  private let hasUnwritten = Atomic<Bool>(false)

  func codec(ofVersion schemaVersion: UInt32) -> String? { known.withLock { $0[schemaVersion]?.codec } }

  func adopt(_ format: ValueFormat, isWritten: Bool) {
    known.withLock { known in
      guard known[format.schemaVersion] == nil else { return }
      known[format.schemaVersion] = KnownFormat(codec: format.codec, isWritten: isWritten)
      if !isWritten { hasUnwritten.store(true, ordering: .releasing) }
    }
  }

  /// The formats that the file does not name yet.
  var unwritten: [ValueFormat] {
    guard hasUnwritten.load(ordering: .acquiring) else { return [] }
    return known.withLock { known in
      known.filter { !$0.value.isWritten }.map { ValueFormat(codec: $0.value.codec, schemaVersion: $0.key) }
    }
  }

  /// Marks the format as written to the file.
  func noteWritten(_ format: ValueFormat) {
    known.withLock { known in
      known[format.schemaVersion]?.isWritten = true
      hasUnwritten.store(known.values.contains { !$0.isWritten }, ordering: .releasing)
    }
  }

  /// Marks all formats as unwritten after another file replaced the old one.
  func forgetFile() {
    known.withLock { known in
      for version in known.keys { known[version]?.isWritten = false }
      hasUnwritten.store(!known.isEmpty, ordering: .releasing)
    }
  }
}
