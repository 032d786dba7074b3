#if Service
  import Cistern
  import CisternTesting
  import Locking

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A clock that stands still, and whose sleepers wait at a gate.
  final class GatedClock: CacheClock {
    let sleepers = Gate()
    private let deadlines = Guarded<[MonotonicTime]>([])

    /// The durations of all sleeps so far.
    var durations: [Duration] { deadlines.withLock { $0.map { .nanoseconds(Int64($0.nanoseconds)) } } }

    func now() -> MonotonicTime { MonotonicTime(nanoseconds: 0) }

    func wallTime() -> WallTime { WallTime(nanosecondsSince1970: 0) }

    func sleep(until deadline: MonotonicTime) async throws {
      deadlines.withLock { $0.append(deadline) }
      try await sleepers.pass()
      // A loop over sleeps at an open gate would keep its thread from other tasks.
      await Task.yield()
    }
  }

  /// A tier with one more commit at each read of its statistics. A read takes some time.
  final class SlowlyReadTier: SecondTier {
    private let tier = FaultInjectingTier()
    private let reads = Guarded(0)

    /// The number of reads of the statistics.
    var readCount: Int { reads.withLock { $0 } }

    var statistics: SecondTierStatistics {
      var statistics = SecondTierStatistics()
      statistics.commits = reads.withLock { reads in
        reads += 1
        return reads
      }
      usleep(100)
      return statistics
    }

    func partition(
      named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
    ) throws(CisternError) -> any SecondTierPartition {
      try tier.partition(named: name, lossHandler: lossHandler)
    }

    func flush() async throws(CisternError) {}

    func close() async throws(CisternError) {}
  }

  /// A tier that commits nothing by itself, and whose close waits at a gate.
  final class SlowlyClosingTier: SecondTier {
    let gate = Gate()
    private let tier = FaultInjectingTier(commits: .onDemand)

    var statistics: SecondTierStatistics { tier.statistics }

    func partition(
      named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
    ) throws(CisternError) -> any SecondTierPartition {
      try tier.partition(named: name, lossHandler: lossHandler)
    }

    func flush() async throws(CisternError) { try await tier.flush() }

    func close() async throws(CisternError) {
      await gate.passUncancelled()
      try await tier.close()
    }
  }
#endif
