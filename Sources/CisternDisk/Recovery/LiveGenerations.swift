import CisternCore
import LMDB

/// The live generations of a file, and the invalidations that conceal their records.
struct LiveGenerations {
  private var concealed: [Generation: InvalidationSet<FileInvalidationVersion>] = [:]

  init<Reading: Transaction & ~Copyable & ~Escapable>(
    named names: [String], in transaction: borrowing Reading, of file: DiskFile
  ) throws(LMDBError) {
    for name in names {
      guard let generation = try transaction.generation(forKey: MetaTable.partition(name), in: file.meta) else {
        continue
      }
      let rows = try transaction.invalidationRows(of: name, endedAfter: .max, in: file.meta).inForce
      concealed[generation] = rows.reduce(into: InvalidationSet()) { $0.add($1.key, invalidationVersion: $1.value) }
    }
  }

  /// The generations.
  var all: some Sequence<Generation> { concealed.keys }

  /// Returns whether readers see the record.
  func shows(_ record: RawSpan, _ header: PackedHeader, of generation: Generation) -> Bool {
    guard let set = concealed[generation] else { return false }
    return !set.conceals(record, header)
  }

  /// Returns whether readers see the record.
  func shows(_ record: RawSpan, _ header: RecordHeader, under key: borrowing DiskKey) -> Bool {
    guard let set = concealed[key.generation] else { return false }
    guard !set.isEmpty, header.invalidationVersion(of: record) < set.newest else { return true }
    let fullKey = key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey
    return !set.conceals(
      invalidationVersion: header.invalidationVersion(of: record), key: fullKey.rawSpan,
      tags: header.metadata(of: record).tags)
  }
}
