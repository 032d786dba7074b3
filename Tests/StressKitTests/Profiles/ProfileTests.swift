import Foundation
import Testing

@testable import StressKit

@Suite(.serialized) struct ProfileTests {
  private func report(_ profile: Profile, _ more: String...) async throws -> StressReport {
    let run = await CommandRun(
      [
        "stress", "--profile", profile.rawValue, "--in-process", "--operations", "15000", "--value-size", "300",
        "--keys", "400", "--memory-limit", "64KiB", "--disk-limit", "4MiB", "--seed", "21", "--json", "-",
      ] + more)
    #expect(run.errors.contains("VIOLATIONS") == false)
    return try JSONDecoder().decode(StressReport.self, from: Data(run.output))
  }

  @Test(arguments: Profile.allCases)
  func `each profile runs without violations, and its report names it`(profile: Profile) async throws {
    let report = try await report(profile)
    #expect(report.violations == [])
    #expect(report.configuration.profile == profile)
    #expect(report.operations > 10_000)
  }

  @Test func `a failing origin leads to stale values, refreshes and timeouts`() async throws {
    let report = try await report(.flakyOrigin, "--clients", "4")
    #expect(report.count(.stale) > 0)
    #expect(report.count(.refreshed) > 0)
    #expect(report.count(.timedOut) > 0)
    #expect(report.count(.failed) > 0)
    #expect(report.refreshes > 0)
  }

  @Test func `churn uses every kind of edit`() async throws {
    let report = try await report(.churn)
    for outcome in [Outcome.updated, .batched, .saved, .edited, .takenBack] {
      #expect((report.exercises[outcome.rawValue]?.count ?? 0) > 0, "\(outcome)")
    }
  }

  @Test func `tags and prefixes are invalidated during fetches and writes`() async throws {
    let report = try await report(.invalidate)
    #expect(report.count(.invalidated) > 0)
    #expect(report.violations == [])
  }

  @Test func `a restart reopens the records that exercises wrote`() async throws {
    let report = try await report(.restart, "--reopen-every", "50ms")
    #expect(report.reopenings > 0)
    #expect(report.violations == [])
  }

  @Test func `flags take precedence over the profile`() throws {
    let command = try StressCommand.parse(["--profile", "flaky-origin", "--failure-rate", "1%", "--in-process"])
    let configuration = try command.resolve()
    #expect(configuration.failureRate == 0.01)
    #expect(configuration.latency == Profile.flakyOrigin.settings.latency)
  }

  @Test func `an unknown profile is named in the error`() async {
    let run = await CommandRun("stress", "--profile", "sunny")
    #expect(run.status == 2)
    #expect(run.errors.contains("sunny"))
    #expect(run.errors.contains("flaky-origin"))
  }
}
