import Cistern
import CisternDisk

/// Feeds arbitrary bytes to the record parser. It does not trap, the checksum refuses bytes that no writer wrote, and
/// accepted records are within bounds.
func fuzzRecords(_ input: [UInt8]) {
  let key = DiskKey(generation: Generation(number: 7), key: Array(input.prefix(3)).rawSpan)
  let unsealed = RecordHeader(input.rawSpan, under: key)
  if let unsealed { look(at: unsealed, in: input) }
  guard input.count >= RecordFormat.fixedSize else {
    return require(unsealed == nil, "a record of \(input.count) bytes")
  }
  var sealed = input
  do {
    var span = sealed.mutableSpan
    // All bytes are initialized.
    var bytes = unsafe span.mutableBytes
    RecordFormat.seal(&bytes, under: key)
  }
  let trusted = RecordHeader(trusting: sealed.rawSpan)
  let checked = RecordHeader(sealed.rawSpan, under: key)
  require((trusted == nil) == (checked == nil), "a right checksum is not believed")
  guard let checked else { return }
  look(at: checked, in: sealed)
  // A record under another key, or with another bit, is invalid.
  let other = DiskKey(generation: Generation(number: 8), key: Array(input.prefix(3)).rawSpan)
  require(RecordHeader(sealed.rawSpan, under: other) == nil, "a record of another key is believed")
  let bit = Int(sealed[12]) % (sealed.count * 8)
  sealed[bit / 8] ^= 1 << UInt8(bit % 8)
  require(RecordHeader(sealed.rawSpan, under: key) == nil, "bit \(bit) was changed without detection")
}

private func look(at header: RecordHeader, in record: [UInt8]) {
  require(
    header.tags.lowerBound >= RecordFormat.fixedSize && header.tags.upperBound == header.key.lowerBound
      && header.key.upperBound == header.value.lowerBound && header.value.upperBound == record.count,
    "the parts of the record are not side by side")
  let metadata = header.metadata(of: record.rawSpan)
  require(
    RecordTags.size(of: metadata.tags) <= 3 * max(header.tags.count, 4), "more tags than there are bytes for")
}

/// Writes a record and reads it back, also with another sequence number.
func fuzzRecordRoundTrips(_ input: [UInt8]) {
  var source = ByteSource(input)
  let metadata = source.metadata()
  let key = source.bytes()
  let bytes = source.bytes(upTo: 4_096)
  let (first, second) = (SequenceNumber(number: source.number()), SequenceNumber(number: source.number()))
  let generation = Generation(number: source.number(UInt64.self) % DiskKey.generationLimit.number)
  let diskKey = DiskKey(generation: generation, key: key.rawSpan)
  let draft = RecordDraft(key: key, metadata: metadata, bytes: bytes)
  var record = [UInt8](repeating: 0xAA, count: draft.size)
  do {
    var span = record.mutableSpan
    // All bytes are initialized.
    var target = unsafe span.mutableBytes
    draft.encode(sequence: first, under: diskKey, into: &target)
  }
  compare(record, diskKey, sequence: first, key, metadata, bytes)
  do {
    var span = record.mutableSpan
    // All bytes are initialized.
    var target = unsafe span.mutableBytes
    RecordFormat.renumber(&target, sequence: second, under: diskKey)
  }
  compare(record, diskKey, sequence: second, key, metadata, bytes)
}

private func compare(
  _ record: [UInt8], _ diskKey: borrowing DiskKey, sequence: SequenceNumber, _ key: [UInt8], _ metadata: RecordMetadata,
  _ bytes: [UInt8]
) {
  guard let header = RecordHeader(record.rawSpan, under: diskKey) else {
    fatalError("broken: a written record is not readable")
  }
  let found = header.metadata(of: record.rawSpan)
  require(header.sequence == sequence, "the sequence number changed")
  let invalidationVersion = header.invalidationVersion(of: record.rawSpan)
  require(invalidationVersion.number == metadata.invalidationVersion, "the invalidation version alone is another")
  require(found == metadata, "\(metadata) came back as \(found)")
  require(found.tags.map { Array($0.utf8) } == metadata.tags.map { Array($0.utf8) }, "a tag came back with other bytes")
  require(record.rawSpan.extracting(header.value).copiedBytes() == bytes, "the value changed")
  let written = key.count > DiskKey.longestDirectKey ? key : []
  require(record.rawSpan.extracting(header.key).copiedBytes() == written, "the key changed")
}

extension ByteSource {
  mutating func time() -> WallTime { WallTime(nanosecondsSince1970: number()) }

  mutating func metadata() -> RecordMetadata {
    var metadata = RecordMetadata(
      created: time(), expires: optional { $0.time() }, cost: number(), schemaVersion: optional { $0.number() } ?? 0,
      tags: few { $0.text() })
    metadata.grace = optional { $0.number() } ?? 0
    metadata.idle = optional { $0.number() } ?? 0
    metadata.lastUsed = optional { $0.time() }
    metadata.refreshAhead = optional { $0.number() } ?? 0
    metadata.invalidationVersion = optional { $0.number() } ?? 0
    metadata.isNegative = flag()
    return metadata
  }
}
