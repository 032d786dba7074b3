import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The newer times of a record, and their encoding.
struct RecordRenewalTests {
  private static let value = [UInt8](repeating: 7, count: RecordRenewal.leastValueSize)

  private static func metadata(_ time: Int64) -> RecordMetadata {
    RecordMetadata(
      created: WallTime(nanosecondsSince1970: time), expires: WallTime(nanosecondsSince1970: 2 * time), cost: 4,
      schemaVersion: 3, tags: ["tag"])
  }

  private func renewal(from old: RecordMetadata, to new: RecordMetadata, value: [UInt8] = value) -> RecordRenewal? {
    let draft = RecordDraft(key: [1], metadata: new, bytes: value)
    return RecordRenewal(of: old, Self.value.rawSpan, as: draft)
  }

  private func decoded(_ row: [UInt8]) -> RecordRenewal? { RecordRenewal(row.rawSpan) }

  @Test func `all times survive the encoding, and apply to the record alone`() throws {
    var newer = Self.metadata(20)
    newer.grace = 1
    newer.idle = 2
    newer.refreshAhead = 3
    newer.lastUsed = WallTime(nanosecondsSince1970: 4)
    newer.staleIfError = 5
    for expires in [newer.expires, nil] {
      newer.expires = expires
      let bytes = try #require(renewal(from: Self.metadata(10), to: newer)).bytes
      let read = try #require(decoded(bytes))
      var renewed = Self.metadata(10)
      read.apply(to: &renewed)
      #expect(renewed == newer)
      var other = Self.metadata(11)
      read.apply(to: &other)
      #expect(other == Self.metadata(11))
    }
  }

  @Test func `a use that was noted in the record itself after the renewal survives`() throws {
    var newer = Self.metadata(20)
    newer.idle = 2
    for lastUsed in [nil, WallTime(nanosecondsSince1970: 24)] {
      newer.lastUsed = lastUsed
      let newest = try #require(renewal(from: Self.metadata(10), to: newer))
      for (own, expected) in [
        (19, lastUsed), (21, lastUsed ?? WallTime(nanosecondsSince1970: 21)), (25, WallTime(nanosecondsSince1970: 25)),
      ] {
        var record = Self.metadata(10)
        record.lastUsed = WallTime(nanosecondsSince1970: Int64(own))
        let renewed = newest.applied(to: record)
        #expect(renewed.lastUsed == expected, "used at \(own)")
        #expect(renewed.created == newer.created && renewed.expires == newer.expires)
      }
    }
  }

  @Test func `a record that differs in more than its times gets no renewal`() {
    let old = Self.metadata(10)
    #expect(renewal(from: old, to: Self.metadata(20)) != nil)
    var other = Self.metadata(20)
    other.tags = ["other"]
    #expect(renewal(from: old, to: other) == nil)
    other = Self.metadata(20)
    other.cost = 5
    #expect(renewal(from: old, to: other) == nil)
    other = Self.metadata(20)
    other.schemaVersion = 4
    #expect(renewal(from: old, to: other) == nil)
    #expect(renewal(from: old, to: Self.metadata(20), value: Self.value + [7]) == nil)
    var bytes = Self.value
    bytes[4000] = 8
    #expect(renewal(from: old, to: Self.metadata(20), value: bytes) == nil)
    let small = [UInt8](Self.value.dropLast())
    let draft = RecordDraft(key: [1], metadata: Self.metadata(20), bytes: small)
    let renewal = RecordRenewal(of: old, small.rawSpan, as: draft)
    #expect(renewal == nil)
  }

  @Test func `bytes of another form are no renewal`() throws {
    let bytes = try #require(renewal(from: Self.metadata(10), to: Self.metadata(20))).bytes
    for count in bytes.indices { #expect(decoded(Array(bytes[..<count])) == nil) }
    #expect(decoded(bytes + [0]) == nil)
    for bit in 0..<16 {
      var changed = bytes
      changed[16 + bit / 8] ^= 1 << (bit % 8)
      #expect(decoded(changed) == nil, "flag \(bit)")
    }
  }
}
