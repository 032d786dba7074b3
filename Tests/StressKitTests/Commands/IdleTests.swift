import Cistern
import Testing
import TestDirectories

@testable import StressKit

/// The time to idle of records, in the commands that print them.
@Suite struct IdleTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  private static func time(_ nanoseconds: Int64) -> WallTime { WallTime(nanosecondsSince1970: nanoseconds) }

  /// Returns the metadata of a record that was written at 100.
  private func metadata(idle: UInt64, lastUsed: Int64? = nil, expires: Int64? = nil) -> RecordMetadata {
    var metadata = RecordMetadata(created: Self.time(100), expires: expires.map(Self.time), cost: 1)
    metadata.idle = idle
    metadata.lastUsed = lastUsed.map(Self.time)
    return metadata
  }

  @Test func `the end is the earlier one of the lifetime and the time to idle`() {
    #expect(metadata(idle: 0).end == nil)
    #expect(metadata(idle: 0, expires: 500).end == Self.time(500))
    #expect(metadata(idle: 7).end == Self.time(107))
    #expect(metadata(idle: 7, lastUsed: 200).end == Self.time(207))
    #expect(metadata(idle: 7, lastUsed: 200, expires: 206).end == Self.time(206))
    #expect(metadata(idle: 7, lastUsed: 200, expires: 208).end == Self.time(207))
  }

  @Test(arguments: [UInt64.max, UInt64(Int64.max)])
  func `a time to idle that ends after all times is none`(idle: UInt64) {
    #expect(metadata(idle: idle).end == nil)
    #expect(metadata(idle: idle, expires: 500).end == Self.time(500))
  }

  @Test func `a value that was not used for its time to idle has expired`() async {
    let line = #"{"key":"a","text":"one","created":"2020-01-01T00:00:00Z","idle":1000000000}"#
    #expect(
      await CommandRun(["import", store, "things", "--disk-limit", "1MiB"], input: Array(line.utf8)).status == 0)
    let run = await CommandRun("get", store, "things", "a")
    #expect(run.status == 1)
    #expect(run.errors.contains("expired at 2020-01-01T00:00:01Z"), "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "a", "--expired").text == "one")
    #expect(await CommandRun("list", store, "things").text.contains("2020-01-01T00:00:01Z"))
    let json = await CommandRun("list", store, "things", "--json").text
    #expect(json.contains(#""idle" : 1000000000"#) && !json.contains("expires"), "\(json)")
  }
}
