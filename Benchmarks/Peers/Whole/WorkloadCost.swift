/// The cost of a workload.
struct WorkloadCost {
  var nanoseconds: UInt64 = 0
  var requests = 0
  var originRequests = 0
  /// The latency of each request in nanoseconds, if it was measured.
  var latencies: [UInt64] = []

  mutating func add(_ other: WorkloadCost) {
    nanoseconds += other.nanoseconds
    requests += other.requests
    originRequests += other.originRequests
    latencies += other.latencies
  }

  var nanosecondsPerRequest: Double { Double(nanoseconds) / Double(requests) }
  var originRequestsPerRequest: Double { Double(originRequests) / Double(requests) }

  /// Returns the latency that `share` of a thousand requests do not exceed.
  ///
  /// - Precondition: Latencies were measured.
  func latency(perMille share: Int) -> Double {
    let sorted = latencies.sorted()
    return Double(sorted[min(sorted.count * share / 1_000, sorted.count - 1)])
  }
}
