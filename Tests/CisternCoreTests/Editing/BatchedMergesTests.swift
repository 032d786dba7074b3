import Testing

@testable import CisternCore

/// Many values of one key in a batch of a cache that merges.
struct BatchedMergesTests {
  @Test func `later values extend the earlier ones in place`() throws {
    var batch = Batch<String, Int>(layering: .merges)
    // The array moves only when it grows, each time to twice its size.
    var moves = 0
    var address = 0
    for value in 0..<1_000 {
      batch.setValue(value, forKey: "a")
      guard case .merge(let writes)? = batch.writes["a"] else { continue }
      let current = unsafe writes.values.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      if Int(bitPattern: current) != address { moves += 1 }
      address = Int(bitPattern: current)
    }
    guard case .merge(let writes)? = batch.writes["a"] else {
      Issue.record("the values are not merged")
      return
    }
    #expect(writes.values == Array(0..<1_000))
    #expect(moves < 15)
  }
}
