import Cistern
import Foundation
import Synchronization

/// A second tier that keeps its records in memory, and writes all of them to one file.
final class FileTier: SecondTier {
  struct Record: Codable {
    let metadata: RecordMetadata
    let bytes: Data
  }

  /// The records of each cache, and whether the tier is open.
  let contents = Mutex((caches: [String: [Data: Record]](), isOpen: true))
  /// One thread writes the file at a time, so that the newest contents are written last.
  private let file: Mutex<URL>

  init(file: URL) throws {
    self.file = Mutex(file)
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    try contents.withLock { $0.caches = try JSONDecoder().decode(type(of: $0.caches), from: Data(contentsOf: file)) }
  }

  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition { FilePartition(tier: self, name: name) }

  func flush() async throws(CisternError) {
    try file.withLock { file throws(CisternError) in
      do {
        try JSONEncoder().encode(contents.withLock { $0.caches }).write(to: file, options: .atomic)
      } catch {
        throw CisternError(.diskFailed, "the file could not be written", location: file.path, cause: error)
      }
    }
  }

  func close() async throws(CisternError) {
    contents.withLock { $0.isOpen = false }
    try await flush()
  }

  var statistics: SecondTierStatistics {
    SecondTierStatistics(mode: contents.withLock { $0.isOpen } ? .active : .closed)
  }
}

/// The records of one cache. One ticket is enough, because each commit writes all records.
struct FilePartition: SecondTierPartition {
  let tier: FileTier
  let name: String
  let ticket = CommitTicket(number: 1)

  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    try records[unsafe key.withUnsafeBytes { unsafe Data($0) }].map { try body($0.metadata, $0.bytes.bytes) }
  }

  func stage(_ write: StagedWrite) -> StagingResult {
    let isStaged = change { records in
      switch write {
      case .record(let key, let metadata, let bytes):
        records[Data(key)] = FileTier.Record(metadata: metadata, bytes: Data(bytes))
      case .removal(let key): records[Data(key)] = nil
      }
    }
    return isStaged ? .staged(ticket) : .refused
  }

  var invalidatesExactly: Bool { true }

  func stageRemoval(of invalidation: Invalidation) -> CommitTicket {
    change { $0 = $0.filter { !invalidation.concerns(key: [UInt8]($0.key), tags: $0.value.metadata.tags) } }
    return ticket
  }

  func stageRemovalOfAll() -> CommitTicket {
    change { $0 = [:] }
    return ticket
  }

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) { try await tier.flush() }

  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    for (key, record) in records where try !body(key.bytes, record.metadata, record.bytes.count) { return }
  }

  var statistics: SecondTierStatistics { tier.statistics }

  private var records: [Data: FileTier.Record] {
    tier.contents.withLock { $0.isOpen ? $0.caches[name] ?? [:] : [:] }
  }

  /// Changes the records. Returns false if the tier is closed.
  @discardableResult
  private func change(_ body: (inout [Data: FileTier.Record]) -> Void) -> Bool {
    tier.contents.withLock { contents in
      if contents.isOpen { body(&contents.caches[name, default: [:]]) }
      return contents.isOpen
    }
  }
}
