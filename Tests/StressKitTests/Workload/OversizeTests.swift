import Testing

@testable import StressKit

/// Values of a run that are larger than its memory limit.
@Suite struct OversizeTests {
  @Test(arguments: [(1, Stamp.size), (10, Stamp.size), (Stamp.size, Stamp.size + 1), (1_000, 1_001)])
  func `a value is larger than the limit, and has a stamp`(limit: Int, size: Int) {
    #expect(Client.oversize(ofLimit: limit) == size)
  }

  @Test(arguments: [64 << 20, 1 << 40, Int.max])
  func `a run does not write values over 64 MiB`(limit: Int) {
    #expect(Client.oversize(ofLimit: limit) == nil)
    #expect(Client.oversize(ofLimit: (64 << 20) - 1) == 64 << 20)
  }

  @Test(arguments: ["10", "9223372036854775807"])
  func `a run accepts every memory limit`(limit: String) async {
    let run = await CommandRun(
      "stress", "--in-process", "--profile", "churn", "--operations", "3000", "--keys", "50", "--value-size", "300",
      "--memory-limit", limit, "--seed", "3")
    #expect(run.status == 0, "\(run.text)\(run.errors)")
  }
}
