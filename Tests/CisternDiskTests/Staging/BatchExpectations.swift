import CisternTestSupport
import Testing

@testable import CisternCore

/// Checks the batches that `DiskChild batch` or `DiskBatchTests` has written. Odd batches write their number to the
/// keys 0 to 9, and even batches to the keys 5 to 14.
func expectWholeBatches(
  in cache: any TransactionalPartition, notBefore flushed: Int, _ comment: Comment? = nil
) {
  let (odd, both, even) = (numbers(0..<5, in: cache), numbers(5..<10, in: cache), numbers(10..<15, in: cache))
  #expect(odd.count == 1 && both.count == 1 && even.count == 1, comment)
  let newest = max(number(of: odd), number(of: even))
  #expect(number(of: both) == newest, comment)
  #expect(newest >= flushed, comment)
}

/// Checks the batches over three partitions that `DiskChild batch-across` or `DiskStoreBatchTests` has written.
///
/// An odd batch writes its number to the keys 0 to 9 of the first two partitions. An even batch writes it to the keys
/// 5 to 14 of the second partition, and to the keys 0 to 9 of the third.
func expectWholeBatches(
  across caches: [any TransactionalPartition], notBefore flushed: Int = 0, _ comment: Comment? = nil
) {
  let (odd, even) = (numbers(0..<10, in: caches[0]), numbers(0..<10, in: caches[2]))
  #expect(odd.count == 1 && even.count == 1, comment)
  #expect(numbers(0..<5, in: caches[1]) == odd && numbers(10..<15, in: caches[1]) == even, comment)
  let newest = max(number(of: odd), number(of: even))
  #expect(numbers(5..<10, in: caches[1]) == [newest == 0 ? nil : newest], comment)
  #expect(newest >= flushed, comment)
}

/// Returns the numbers of the batches that have written the keys, with nil for keys without a record.
private func numbers(_ keys: Range<Int>, in cache: any TransactionalPartition) -> Set<Int?> {
  Set(
    keys.map { key in
      cache.get("key-\(key)").flatMap { Int(String(decoding: $0.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)) }
    })
}

/// Returns the number of a batch, or zero if there is none.
private func number(of numbers: Set<Int?>) -> Int { numbers.first.flatMap { $0 } ?? 0 }
