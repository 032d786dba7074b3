/// What a load took.
struct Taken {
  var nanoseconds: UInt64 = 0
  var requests = 0
  var originRequests = 0
  /// Of each request, in nanoseconds; where they are measured.
  var latencies: [UInt64] = []

  mutating func add(_ other: Taken) {
    nanoseconds += other.nanoseconds
    requests += other.requests
    originRequests += other.originRequests
    latencies += other.latencies
  }

  var nanosecondsPerRequest: Double { Double(nanoseconds) / Double(requests) }
  var originRequestsPerRequest: Double { Double(originRequests) / Double(requests) }

  /// The latency that so many of a thousand do not exceed.
  func latency(perMille share: Int) -> Double {
    let sorted = latencies.sorted()
    return Double(sorted[min(sorted.count * share / 1_000, sorted.count - 1)])
  }
}
