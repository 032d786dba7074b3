#if Service
  import CisternCore

  /// A value of one metric, as statistics state it.
  struct MetricSample: Sendable, Equatable {
    /// The identity of a time series.
    struct Series: Sendable, Hashable {
      let name: String
      var labels: [String: String] = [:]

      /// The labels, in the order of their names.
      var dimensions: [(String, String)] { labels.sorted { $0.key < $1.key } }
    }

    /// A total since the cache was opened, or a current number.
    enum Kind: Sendable {
      case total
      /// A total that a later correction can lower.
      case correctedTotal
      case gauge
    }

    var series: Series
    let kind: Kind
    let value: Int

    init(_ kind: Kind, _ name: String, _ value: Int, _ labels: [String: String] = [:]) {
      series = Series(name: name, labels: labels)
      self.kind = kind
      self.value = value
    }
  }

  extension CacheStatistics {
    /// The samples of a cache, without the label of its name.
    var samples: [MetricSample] { totals + gauges }

    private var totals: [MetricSample] {
      let (tier, result) = (LabelName.tier, LabelName.result)
      return [
        MetricSample(.total, MetricName.requests, memoryHits, [tier: "memory", result: "hit"]),
        MetricSample(.total, MetricName.requests, diskHits, [tier: "disk", result: "hit"]),
        MetricSample(.correctedTotal, MetricName.requests, misses, [tier: "none", result: "miss"]),
        MetricSample(.total, MetricName.staleHits, staleHits),
        MetricSample(.total, MetricName.flights, flights),
        MetricSample(.total, MetricName.joins, joins),
        MetricSample(.total, MetricName.refreshes, refreshes),
        MetricSample(.total, MetricName.failures, failures, [result: "failed"]),
        MetricSample(.total, MetricName.failures, rejected, [result: "rejected"]),
        MetricSample(.total, MetricName.failures, timeouts, [result: "timed_out"]),
        MetricSample(.total, MetricName.failures, cancellations, [result: "cancelled"]),
        MetricSample(.total, MetricName.writes, stores, [result: "stored"]),
        MetricSample(.total, MetricName.writes, removals, [result: "removed"]),
        MetricSample(.total, MetricName.writes, refused, [result: "refused"]),
        MetricSample(.total, MetricName.writes, notEncodable, [result: "not_encodable"]),
        MetricSample(.total, MetricName.evictions, evictionsByCost &+ evictionsByCount, [tier: "memory"]),
        MetricSample(.total, MetricName.evictions, diskEvictions, [tier: "disk"]),
        MetricSample(.total, MetricName.expirations, expirations),
        MetricSample(.total, MetricName.invalidations, invalidations),
        MetricSample(.total, MetricName.widenedRemovals, widenedRemovals),
        MetricSample(.total, MetricName.migrations, migrated, [result: "migrated"]),
        MetricSample(.total, MetricName.migrations, dropped, [result: "dropped"]),
        MetricSample(.total, MetricName.migrations, notDecodable, [result: "not_decodable"]),
      ]
    }

    private var gauges: [MetricSample] {
      let tier = LabelName.tier
      return [
        MetricSample(.gauge, MetricName.entryCount, memory.entryCount, [tier: "memory"]),
        MetricSample(.gauge, MetricName.size, memory.cost, [tier: "memory"]),
        MetricSample(.gauge, MetricName.entryCount, disk?.entryCount ?? 0, [tier: "disk"]),
        MetricSample(.gauge, MetricName.size, disk?.liveBytes ?? 0, [tier: "disk"]),
        MetricSample(.gauge, MetricName.flightCount, inProgressCount),
        MetricSample(.gauge, MetricName.waiterCount, waiterCount),
      ]
    }
  }

  extension StoreStatistics {
    /// The samples of the store as a whole.
    var samples: [MetricSample] {
      let (tier, result) = (LabelName.tier, LabelName.result)
      var samples = [
        MetricSample(.gauge, MetricName.storeSize, memory.cost, [tier: "memory"]),
        MetricSample(.gauge, MetricName.storeLimit, memory.costLimit, [tier: "memory"]),
      ]
      guard let disk else { return samples }
      samples += [
        MetricSample(.gauge, MetricName.storeSize, disk.occupiedBytes, [tier: "disk"]),
        MetricSample(.gauge, MetricName.storeLimit, disk.limitBytes, [tier: "disk"]),
        MetricSample(.gauge, MetricName.stagedCount, disk.stagedCount),
        MetricSample(.gauge, MetricName.degraded, disk.mode == .degraded ? 1 : 0),
        MetricSample(.total, MetricName.commits, disk.commits),
        MetricSample(.total, MetricName.storeFailures, disk.refused, [result: "refused"]),
        MetricSample(.total, MetricName.storeFailures, disk.failed, [result: "failed"]),
        MetricSample(.total, MetricName.storeFailures, disk.damaged, [result: "damaged"]),
      ]
      return samples
    }
  }
#endif
