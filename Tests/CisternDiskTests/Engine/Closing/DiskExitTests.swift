import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The contents of the disk after a process exits without closing its stores.
@Suite(.serialized) struct DiskExitTests {
  /// Runs the helper to its end, and returns its exit status.
  func run(_ mode: String, _ scratch: TemporaryDirectory, durability: String = "powerCut") throws -> Int32 {
    let child = try ChildProcess(mode, scratch.path, "\(1 << 20)", durability)
    return child.waitForEnd()
  }

  /// Returns the numbers from 1 to 4 that the store contains.
  func numbers(_ scratch: TemporaryDirectory, _ name: String = "") async throws -> [Int] {
    let delivered = DeliveredReports()
    var options = DiskOptions(limit: .mebibytes(1), layout: .tested)
    options.retryInterval = .unreachable
    let tier = try DiskTier(directory: "\(scratch.path)/\(name)", options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
    let cache = try tier.cache()
    let found = (1...4).filter { cache.get("key-\($0)") == [UInt8($0)] }
    try await tier.close()
    #expect(delivered.reportCodes == [])
    return found
  }

  @Test(arguments: ["exit", "exit-main"], ["powerCut", "processCrash"])
  func `a write that is staged when the process exits or main returns is on disk`(
    mode: String, durability: String
  ) async throws {
    let scratch = TemporaryDirectory()
    #expect(try run(mode, scratch, durability: durability) == 0)
    #expect(try await numbers(scratch) == [1])
  }

  @Test func `an exit commits the writes of all stores, including those that are closing`() async throws {
    let scratch = TemporaryDirectory()
    #expect(try run("exit-stores", scratch) == 0)
    for number in 1...4 { #expect(try await numbers(scratch, "store-\(number)") == [number]) }
  }

  @Test func `an exit in a report handler, on the writer thread, commits all staged writes`() async throws {
    let scratch = TemporaryDirectory()
    #expect(try run("exit-writer", scratch) == 0)
    #expect(try await numbers(scratch, "store") == [1, 2])
  }

  @Test func `an exit during a commit waits for it, and commits the writes staged since`() async throws {
    let scratch = TemporaryDirectory()
    #expect(try run("exit-committing", scratch) == 0)
    #expect(try await numbers(scratch, "store") == [1, 2])
  }

  @Test func `an exit does not wait indefinitely for a disk that does not respond`() async throws {
    let scratch = TemporaryDirectory()
    #expect(try run("exit-hung", scratch) == 0)
    #expect(try await numbers(scratch, "store") == [])
  }

  @Test func `the exit of a forked child commits the child's writes and not the parent's`() async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess("exit-fork", scratch.path, "\(1 << 20)", "powerCut")
    #expect(child.readLine() == "child: 0")
    #expect(child.waitForEnd() == 0)
    #expect(try await numbers(scratch, "store") == [])
    #expect(try await numbers(scratch, "child") == [2])
  }

  @Test(arguments: ["script", "script-closing"])
  func `a program like the first example of the README fetches once if it runs twice`(mode: String) throws {
    let scratch = TemporaryDirectory()
    for run in 1...2 {
      let child = try ChildProcess(mode, scratch.path, "\(1 << 20)", "powerCut")
      if run == 1 { #expect(child.readLine() == "fetched") }
      #expect(child.readLine() == "Title of 1")
      #expect(child.readLine() == nil)
      #expect(child.waitForEnd() == 0)
    }
  }

  #if os(Linux)
    @Test func `a store uses five file descriptors and one thread`() throws {
      let scratch = TemporaryDirectory()
      let child = try ChildProcess("resources", scratch.path, "\(1 << 20)", "powerCut")
      #expect(child.readLine() == "50 10")
      #expect(child.waitForEnd() == 0)
    }
  #endif

  @Test
  func `a relative path denotes the same directory after the process changes its working directory`() async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess("relative", scratch.path, "\(1 << 20)", "powerCut")
    #expect(child.readLine() == nil)
    #expect(child.waitForEnd() == 0)
    #expect(try await numbers(scratch, "relative") == [1])
  }
}
