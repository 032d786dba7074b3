import Locking
import Testing

@testable import CisternCore

struct ShardArrayTests {
  @Test func `no cache line contains parts of two shards`() {
    let shards = ShardArray<String, Int>(count: 8, policy: .s3FIFO, invalidations: SharedInvalidations())
    for index in 0..<8 {
      let address = unsafe UInt(bitPattern: shards.lock(at: index))
      #expect(address % 128 == 0)
      if index > 0 { #expect(unsafe UInt(bitPattern: shards.shard(at: index - 1) + 1) <= address) }
    }
  }

  @Test func `the cache line of a shard's lock contains the fields that a hit reads and counts`() {
    let shards = ShardArray<Int, Int>(count: 1, policy: .s3FIFO, invalidations: SharedInvalidations())
    let start = unsafe UInt(bitPattern: shards.lock(at: 0))
    // These are the addresses of the stored fields, not of copies, because each field is accessed in place.
    let ends = shards.withShard(at: 0) { shard in
      unsafe [
        withUnsafePointer(to: &shard.slots) { unsafe UInt(bitPattern: $0 + 1) },
        withUnsafePointer(to: &shard.invalidationVersion) { unsafe UInt(bitPattern: $0 + 1) },
        withUnsafePointer(to: &shard.counters.memoryHits) { unsafe UInt(bitPattern: $0 + 1) },
      ]
    }
    for end in ends { #expect(end > start && end <= start + 64) }
  }
}
