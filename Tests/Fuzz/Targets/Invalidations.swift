import Cistern
import CisternDisk

/// Feeds arbitrary bytes to the rows of invalidations, tags and counts, and to the mark file. They do not trap and
/// read back unchanged. A set of invalidations conceals exactly the records of its members.
func fuzzInvalidations(_ input: [UInt8]) {
  if let (invalidation, invalidationVersion) = MetaTable.invalidation(input.rawSpan) {
    comesBack(invalidation, invalidationVersion)
  }
  if let row = InvalidationVersionRow(input.rawSpan) { require(row.value == input, "a row of numbers changed") }
  if let counts = GenerationCounts(input.rawSpan) { require(counts.value == input, "counts changed") }
  if let generation = MetaTable.deadGeneration(input.rawSpan) {
    require(MetaTable.dead(generation) == input, "a dead generation changed")
  }
  if let number = MetaTable.number(input.rawSpan) { require(MetaTable.value(number) == input, "a number changed") }
  let mark = BootMark(input[...])
  if mark.state != .unreadable, mark.boot.utf8.count <= BootMark.longestBoot {
    require(BootMark(mark.bytes[...]) == mark, "a mark changed")
  }
  tagsComeBack(RecordTags.decode(input.rawSpan))
  var source = ByteSource(input)
  tagsComeBack(source.few { $0.text() })
  var set = InvalidationSet<FileInvalidationVersion>()
  var model: [Invalidation: FileInvalidationVersion] = [:]
  for _ in 0..<source.byte() % 16 {
    let invalidation = source.flag() ? Invalidation.tag(source.shortText()) : .prefix(source.bytes(upTo: 3))
    let invalidationVersion = FileInvalidationVersion(number: UInt64(source.byte() % 16))
    comesBack(invalidation, invalidationVersion)
    if source.flag() {
      set.add(invalidation, invalidationVersion: invalidationVersion)
      model[invalidation] = max(invalidationVersion, model[invalidation] ?? .zero)
    } else {
      set.remove(invalidation, invalidationVersion: invalidationVersion)
      if let present = model[invalidation], present <= invalidationVersion { model[invalidation] = nil }
    }
  }
  require(set.invalidationVersions == model && set.isEmpty == model.isEmpty, "the set differs from the model")
  let (key, tags, invalidationVersion) = (
    source.bytes(upTo: 4), source.few { $0.shortText() }, FileInvalidationVersion(number: UInt64(source.byte() % 16))
  )
  let isConcerned = model.contains { $0.value > invalidationVersion && $0.key.concerns(key: key, tags: tags) }
  require(
    set.conceals(invalidationVersion: invalidationVersion, key: key.rawSpan, tags: tags) == isConcerned,
    "the set conceals another record")
}

private func comesBack(_ invalidation: Invalidation, _ invalidationVersion: FileInvalidationVersion) {
  let written = MetaTable.value(invalidation, invalidationVersion: invalidationVersion)
  guard let (read, number) = MetaTable.invalidation(written.rawSpan) else {
    fatalError("broken: a written invalidation is not readable")
  }
  require(read == invalidation && number == invalidationVersion, "\(invalidation) came back as \(read)")
}

private func tagsComeBack(_ tags: [String]) {
  var bytes = [UInt8](repeating: 0xAA, count: RecordTags.size(of: tags))
  do {
    var span = bytes.mutableSpan
    // All bytes are initialized.
    var target = unsafe span.mutableBytes
    RecordTags.encode(tags, into: &target, at: 0)
  }
  require(
    RecordTags.decode(bytes.rawSpan).map { Array($0.utf8) } == tags.map { Array($0.utf8) }, "tags came back as others")
}

extension ByteSource {
  fileprivate mutating func shortText() -> String { String(decoding: bytes(upTo: 3), as: UTF8.self) }
}
