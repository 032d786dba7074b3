/// An enumeration in progress: the merge of the second tier's records with the keys that memory, staging and
/// unconfirmed edits had at its beginning.
///
/// The second tier's records are read in chunks, so that no transaction lasts longer. Each entry is checked against
/// memory when its chunk is read. A position is visited once, so no key is returned twice.
///
/// A value that leaves memory is found in the second tier, which has it before it leaves. A value that leaves staging
/// is in the next snapshot. A value that the second tier loses while memory holds it is added when a chunk is read.
/// Only a value that is written, or that leaves both tiers, can escape.
@usableFromInline
struct EntryWalk<Key: CacheKey, Value: Sendable>: Sendable {
  @usableFromInline typealias Entry = CacheEntry<Key, Value>

  @usableFromInline typealias Candidate = EntryCandidates<Key>.Candidate

  /// The number of records that one transaction reads.
  @inlinable static var chunkSize: Int { 512 }

  @usableFromInline let records: SecondTierReader<Key, Value>
  @usableFromInline let selection: EntrySelection
  @usableFromInline let location: String
  @usableFromInline var position: KeyPosition?
  @usableFromInline var candidates: EntryCandidates<Key>
  @usableFromInline var isAtEnd = false
  @usableFromInline var hasBegun = false
  let token: WalkToken
  /// The losses in the token that the candidates contain.
  var listedLosses = 0
  var lossesOfAll = 0
  /// All records behind a former position. Nil for a tier that lists a part of them in each call.
  var listed: ListedRecords?

  @usableFromInline
  init(_ cache: Cache<Key, Value>, _ selection: EntrySelection, after position: KeyPosition?) throws(CisternError) {
    records = cache.records
    self.selection = selection
    location = "enumerate the cache \(cache.name)"
    self.position = position
    try cache.records.checkIsOpen(to: location)
    token = cache.table.walks.open()
    candidates = Self.candidates(of: records, prefix: selection.prefix, after: position)
  }

  /// The position of the last visited entry.
  var cursor: EntryCursor? { position.map { EntryCursor($0) } }

  /// Returns the keys outside the second tier's committed records.
  ///
  /// Memory comes before staging: a value that memory evicts was staged before.
  static func candidates(
    of records: SecondTierReader<Key, Value>, prefix: [UInt8], after start: KeyPosition?
  ) -> EntryCandidates<Key> {
    var candidates: [Candidate] = []
    func add(_ key: Key, _ bytes: [UInt8]) {
      guard bytes.rawSpan.starts(with: prefix) else { return }
      let position = position(of: bytes, in: records)
      if let start, position <= start { return }
      candidates.append(Candidate(position: position, bytes: bytes, key: key))
    }
    for key in records.table.keys() + records.edits.keys { add(key, key.withKeyBytes { $0.copiedBytes() }) }
    for bytes in records.secondTier?.partition.stagedKeys ?? [] {
      if let key = Key(keyBytes: bytes.rawSpan) { add(key, bytes) }
    }
    return EntryCandidates(candidates)
  }

  static func position(of bytes: [UInt8], in records: SecondTierReader<Key, Value>) -> KeyPosition {
    records.secondTier?.partition.position(of: bytes.rawSpan) ?? KeyPosition(bytes: bytes)
  }

  /// Returns the entries of the next positions, and moves behind them. Empty if none of the visited keys has a value.
  ///
  /// - Parameter limit: The largest number of positions to visit.
  /// - Returns: The entries.
  /// - Throws: `CisternError` if the second tier is closed or cannot be read.
  @inlinable
  mutating func nextEntries(limit: Int) throws(CisternError) -> [Entry] {
    let chunk = try nextChunk(limit: limit, needsDetails: true)
    guard hasNoCandidate(in: chunk, limit: limit) else { return merge(chunk, limit: limit) }
    let entryReader = EntryReader(records)
    var entries: [Entry] = []
    entries.reserveCapacity(chunk.count)
    for index in 0..<chunk.count {
      let record = chunk[index]
      if let key = chunk.withKey(of: record, { Key(keyBytes: $0) }) {
        add(entryReader.entryOfRecord(key, record, in: chunk), to: &entries)
      }
    }
    move(behind: chunk)
    return entries
  }

  /// Returns the keys of the next positions with a fresh value, as ``nextEntries(limit:)`` does for entries.
  @inlinable
  mutating func nextKeys(limit: Int) throws(CisternError) -> [Key] {
    let chunk = try nextChunk(limit: limit, needsDetails: false)
    guard hasNoCandidate(in: chunk, limit: limit), selection.tag == nil else {
      return merge(chunk, limit: limit).compactMap { $0.isStale ? nil : $0.key }
    }
    let entryReader = EntryReader(records)
    var keys: [Key] = []
    keys.reserveCapacity(chunk.count)
    for index in 0..<chunk.count {
      let record = chunk[index]
      guard entryReader.isFresh(record, in: chunk) else { continue }
      if let key = chunk.withKey(of: record, { Key(keyBytes: $0) }) { keys.append(key) }
    }
    move(behind: chunk)
    return keys
  }

  /// Returns the number of keys that ``nextKeys(limit:)`` would return.
  @inlinable
  mutating func nextKeyCount(limit: Int) throws(CisternError) -> Int {
    let chunk = try nextChunk(limit: limit, needsDetails: false)
    guard hasNoCandidate(in: chunk, limit: limit), selection.tag == nil else {
      return merge(chunk, limit: limit).count { !$0.isStale }
    }
    let entryReader = EntryReader(records)
    var count = 0
    for index in 0..<chunk.count {
      let record = chunk[index]
      guard entryReader.isFresh(record, in: chunk) else { continue }
      if chunk.withKey(of: record, { Key.isKey($0) }) { count += 1 }
    }
    move(behind: chunk)
    return count
  }

  /// Reads the next chunk. Without details, its records tell whether their values are fresh, but can lack a grace and
  /// tags.
  @usableFromInline
  mutating func nextChunk(limit: Int, needsDetails: Bool) throws(CisternError) -> RecordChunk {
    hasBegun = true
    try records.checkIsOpen(to: location)
    guard let partition = records.secondTier?.partition else { return RecordChunk() }
    let range = RecordRange(
      after: position, prefix: selection.prefix, limit: limit, needsDetails: needsDetails || selection.tag != nil)
    if let listed { return listed.chunk(in: range) }
    let chunk = try partition.records(in: range)
    // A tier of a user lists no records after its close, which can come after the first check.
    try records.checkIsOpen(to: location)
    addLostKeys()
    guard partition.listsAllRecords, chunk.count > limit else { return chunk }
    let all = ListedRecords(chunk)
    listed = all
    return all.chunk(in: range)
  }

  /// Whether the chunk contains all entries up to its end. The keys of memory are then behind it.
  ///
  /// The walk compares records only with the keys that were in memory when it began. A key that came later was written
  /// or read during the enumeration, and its record has data of that time.
  @usableFromInline
  func hasNoCandidate(in chunk: borrowing RecordChunk, limit: Int) -> Bool {
    guard chunk.count <= limit else { return false }
    guard let candidate = candidates.next else { return true }
    guard let end = chunk.end else { return false }
    return end < candidate.position
  }

  @usableFromInline
  mutating func move(behind chunk: borrowing RecordChunk) {
    if let end = chunk.end {
      position = end
    } else if chunk.count > 0 {
      position = chunk.position(of: chunk[chunk.count - 1])
    }
    isAtEnd = chunk.end == nil
  }

  /// Visits the records of the chunk and the candidates up to its end, in order.
  @inlinable
  mutating func merge(_ chunk: borrowing RecordChunk, limit: Int) -> [Entry] {
    var entries: [Entry] = []
    let entryReader = EntryReader(records)
    let positions = (0..<chunk.count).map { chunk.position(of: chunk[$0]) }
    var found = 0
    // The keys that were visited at the last position. Different keys can have the same digest.
    var last: (position: KeyPosition, keys: [[UInt8]])?
    var visits = 0
    while let next = nextPosition(in: positions, from: found) {
      if let end = chunk.end, end < next { break }
      // Keys with equal positions stay together, because the position says whether a key was visited.
      if next != last?.position {
        if visits >= limit {
          position = last?.position
          return entries
        }
        visits += 1
        last = (next, [])
      }
      if found < positions.count, positions[found] == next {
        let record = chunk[found]
        found += 1
        let bytes = chunk.withKey(of: record) { $0.copiedBytes() }
        last?.keys.append(bytes)
        if let key = Key(keyBytes: bytes.rawSpan) {
          add(entryReader.entry(of: key, chunk.metadata(of: record)), to: &entries)
        }
      } else if let candidate = candidates.popNext() {
        // The same key was visited as a record, or as another candidate.
        if last?.keys.contains(candidate.bytes) == true { continue }
        last?.keys.append(candidate.bytes)
        add(entryReader.entry(of: candidate.key, nil), to: &entries)
      }
    }
    position = chunk.end ?? last?.position ?? position
    isAtEnd = chunk.end == nil
    return entries
  }

  /// Returns the next position of a record or a candidate.
  @inlinable
  func nextPosition(in positions: [KeyPosition], from index: Int) -> KeyPosition? {
    let record = index < positions.count ? positions[index] : nil
    guard let candidate = candidates.next?.position else { return record }
    guard let record else { return candidate }
    return candidate < record ? candidate : record
  }

  @inlinable
  func add(_ entry: Entry?, to entries: inout [Entry]) {
    if let entry, selection.tag == nil || selection.includes(tags: entry.tags) { entries.append(entry) }
  }
}

extension SecondTierReader {
  /// Throws if the second tier is closed. An enumeration would miss its records.
  @usableFromInline
  func checkIsOpen(to operation: String) throws(CisternError) {
    if secondTier?.partition.mode == .closed { throw .storeClosed(operation) }
  }
}
