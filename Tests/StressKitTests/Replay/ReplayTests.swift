import Cistern
import Foundation
import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

@Suite struct ReplayTests {
  private let folder = TemporaryDirectory()

  private func misses(
    _ trace: String, limit: String, _ policy: EvictionPolicyKind
  ) async throws -> (objects: Int, bytes: Int) {
    let path = try folder.file("trace.csv", trace)
    let replay = Replay(
      path: path, limits: [try ReplayLimit(argument: limit)], limitNames: [limit], policies: [policy])
    let result = try #require(try await replay.run().results.first)
    return (result.misses, result.bytesMissed)
  }

  @Test func `the least recently used entry is evicted first`() async throws {
    // Space for two: a misses, b misses, a hits, c misses and evicts b, a hits, b misses and evicts c, c misses.
    #expect(try await misses("a\nb\na\nc\na\nb\nc\n", limit: "2", .lru).objects == 5)
  }

  @Test func `a loop larger than the limit never hits under LRU`() async throws {
    #expect(try await misses(String(repeating: "a\nb\nc\n", count: 10), limit: "2", .lru).objects == 30)
    #expect(try await misses(String(repeating: "a\nb\nc\n", count: 10), limit: "3", .lru).objects == 3)
  }

  @Test func `sizes are costs`() async throws {
    // Space for 100 bytes: a (60) misses, b (50) misses and evicts a, a misses and evicts b, c (40) misses and fits,
    // a hits.
    let result = try await misses("a,60\nb,50\na,60\nc,40\na,60\n", limit: "100", .lru)
    #expect(result.objects == 4)
    #expect(result.bytes == 210)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `an object larger than the limit always misses and evicts no other`(policy: EvictionPolicyKind) async throws {
    #expect(try await misses("a,10\nb,101\na,10\nb,101\na,10\n", limit: "100", policy).objects == 3)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `an object that fits misses once`(policy: EvictionPolicyKind) async throws {
    let trace = (0..<500).map { "\($0 % 50),\(1_000 + $0 % 50)" }.joined(separator: "\n")
    #expect(try await misses(trace, limit: "100%", policy).objects == 50)
  }

  @Test func `a share refers to the footprint`() async throws {
    let path = try folder.file("trace.csv", "a,100\nb,300\na,200\n")
    let report = try await Replay(
      path: path, limits: [.share(0.5)], limitNames: ["50%"], policies: [.lru]
    ).run()
    #expect(report.footprint == Replay.Footprint(requests: 3, objects: 2, cost: 500, hasSizes: true))
    #expect(report.results.first?.limitCost == 250)
  }

  @Test func `the command prints a row for each policy and limit`() async throws {
    let path = try folder.file("trace.csv", "a\nb\na\nc\n")
    let run = await CommandRun("replay", path, "--memory-limit", "1,2", "--memory-limit", "100%")
    #expect(run.status == 0)
    #expect(run.text.contains("4 requests of 3 objects"))
    for policy in EvictionPolicyKind.allCases {
      #expect(run.text.split(separator: "\n").count { $0.hasPrefix(policy.rawValue) } == 3)
    }
  }

  @Test func `the number of processors determines the number of shards, and one shard is a column`() async throws {
    let path = try folder.file("trace.csv", (0..<3_000).map { "\($0 % 1_500)" }.joined(separator: "\n"))
    for (processors, shards) in [(1, 4), (2, 4), (32, 4)] {
      let report = try await Replay(
        path: path, limits: [try ReplayLimit(argument: "1000")], limitNames: ["1000"],
        policies: [.leastHitDensity], processorCount: processors
      ).run()
      let result = try #require(report.results.first)
      #expect(result.shards == shards)
      #expect(result.missesWithOneShard > 1_500 && result.missesWithOneShard < 3_000)
      #expect(abs(result.misses - result.missesWithOneShard) < 150)
    }
    let run = await CommandRun("replay", path, "--memory-limit", "100", "--processors", "8", "--policy", "lru")
    #expect(run.status == 0)
    #expect(run.text.contains("with one shard"))
    #expect(await CommandRun("replay", path, "--memory-limit", "100", "--processors", "0").status != 0)
  }

  @Test func `the command writes JSON`() async throws {
    let path = try folder.file("trace.csv", "a,1\nb,1\na,1\nc,1\n")
    let run = await CommandRun("replay", path, "--memory-limit", "2", "--policy", "lru", "--json", "-")
    let report = try JSONDecoder().decode(ReplayReport.self, from: Data(run.output))
    #expect(report.results.map(\.misses) == [3])
    #expect(run.text.contains("\"objectMissRatio\" : 0.75"))
  }

  @Test func `a malformed trace ends the command with an error that names the line`() async throws {
    let path = try folder.file("trace.csv", "a,1\nb\n")
    let run = await CommandRun("replay", path, "--memory-limit", "2")
    #expect(run.status == 2)
    #expect(run.errors.contains("trace.csv:2:"))
  }

  @Test func `a trace with too many bytes to count is refused with the line`() async throws {
    let path = try folder.file("trace.csv", String(repeating: "k,\(1 << 50)\n", count: 5_000))
    let run = await CommandRun("replay", path, "--memory-limit", "1MiB")
    #expect(run.status == 2)
    #expect(run.errors.contains("trace.csv:4097:"))
  }

  @Test func `a trace that can be read only once is refused`() async throws {
    let run = await CommandRun("replay", "/dev/null", "--memory-limit", "1MiB")
    #expect(run.status == 2)
    #expect(run.errors.contains("twice"))
  }

  @Test func `a report that cannot be written is refused before the replay`() async throws {
    let path = try folder.file("trace.csv", "a\nb\n")
    let run = await CommandRun("replay", path, "--memory-limit", "2", "--json", folder.path + "/absent/report.json")
    #expect(run.status == 2)
    #expect(run.errors.contains("absent/report.json"))
    #expect(run.output.isEmpty)
  }
}
