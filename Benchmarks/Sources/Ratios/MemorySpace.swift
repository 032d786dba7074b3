import CAllocations
import Cistern
import Workloads

/// The space of entries, and the allocations of hits.
struct MemorySpace {
  let entries: Int

  func rows() throws -> [Row] {
    let before = cistern_allocated_bytes()
    let cache = try Cache<Int, Int>(costLimit: .max)
    for rank in 0..<entries { cache.setValue(rank, forKey: .key(rank)) }
    let held = cistern_allocated_bytes() - before
    let overhead = Double(held) / Double(entries) - 16

    cistern_count_allocations(1)
    let start = cistern_allocation_count()
    var hits = 0
    for rank in 0..<entries where cache.value(forKey: .key(rank)) != nil { hits += 1 }
    let allocations = cistern_allocation_count() - start
    // Checks that the counter works, because a count of zero is meaningless otherwise.
    let probe = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
    let counts = cistern_allocation_count() > start + allocations
    probe.deallocate()
    cistern_count_allocations(0)
    precondition(hits == entries)
    guard counts else { return [Row(title: "memory per entry", subject: "cannot be measured on this platform")] }
    return [
      Row(
        title: "memory per entry above key and value, Int to Int, \(entries / 1000) k entries",
        subject: "\(decimal(overhead)) bytes", reference: "malloc's own count",
        result: ("\(decimal(overhead))", "≤ 96 bytes", overhead <= 96)),
      Row(
        title: "allocations in \(entries / 1000) k hits", subject: "\(allocations)", reference: "calls of malloc",
        result: ("\(allocations)", "0", allocations == 0)),
    ]
  }
}
