import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The invalidations that a walk ends.
@Suite struct PurgeWalkTests {
  @Test func `a walk gives each of its invalidations once`() {
    var targets: [Invalidation: FileInvalidationVersion] = [:]
    for number in 1...100 { targets[.tag("tag\(number)")] = FileInvalidationVersion(number: UInt64(number)) }
    var walk = PurgeWalk(of: Partition(name: "values"), 0, in: .tested, targets: targets)
    var taken: [Invalidation: FileInvalidationVersion] = [:]
    while !walk.targets.isEmpty {
      let part = walk.takeTargets(upTo: max(1, walk.targets.count >> 2))
      #expect(!part.isEmpty && Set(taken.keys).isDisjoint(with: part.keys))
      taken.merge(part) { $1 }
    }
    #expect(taken == targets)
    #expect(walk.takeTargets(upTo: 1) == [:])
  }
}
