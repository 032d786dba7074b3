import CLMDB
import CisternTesting
import Testing

@testable import LMDB

@Suite struct KeyComparisonTests {
  func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var (left, right) = (left, right)
    return unsafe left.withUnsafeMutableBytes { left in
      unsafe right.withUnsafeMutableBytes { right in
        var first = unsafe MDB_val(mv_size: left.count, mv_data: left.baseAddress)
        var second = unsafe MDB_val(mv_size: right.count, mv_data: right.baseAddress)
        return unsafe Int(compareKeys(&first, &second).signum())
      }
    }
  }

  /// The order by bytes, and then by length.
  func expected(_ left: [UInt8], _ right: [UInt8]) -> Int {
    if left == right { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  @Test func `keys of any length compare by their bytes, and then by their lengths`() {
    var generator = SeededGenerator(seed: 12)
    let lengths = [1, 2, 7, 8, 9, 14, 15, 16, 17, 18, 40]
    var wrong: [[[UInt8]]] = []
    for length in lengths {
      for other in lengths {
        let left = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let end = (0..<other).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // The keys have a common prefix and differ from `place` on.
        let common = min(length, other)
        for place in 0...common {
          var right = Array(left.prefix(common)) + end.dropFirst(common)
          if place < common { right[place] ^= UInt8.random(in: 1...255, using: &generator) }
          let order = expected(left, right)
          if compare(left, right) != order || compare(right, left) != -order { wrong.append([left, right]) }
        }
      }
    }
    #expect(wrong == [])
  }
}
