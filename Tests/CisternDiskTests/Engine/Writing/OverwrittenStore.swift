import CisternTestSupport
import Testing

@testable import CisternCore

/// A store of a child process that overwrote all its values after its device had become full.
struct OverwrittenStore {
  /// The number of values that the store has after it.
  let newCount: Int
  let failures: Int
  let defects: Int

  /// Fills a store, makes its device full, and overwrites the values in one group.
  ///
  /// - Parameters:
  ///   - count: The number of values.
  ///   - perFlush: The number of values between two flushes while the device has room.
  ///   - layout: The layout of the data file.
  /// - Throws: An error if the child process cannot be started, or says something else.
  init(count: Int, perFlush: Int, layout: DiskLayout) throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess([
      "overwrite-device", scratch.path, "\(1 << 20)", "processCrash", "\(count)", "\(perFlush)",
      "layout=\(layout.rawValue)",
    ])
    #expect(child.readLine() == "report deviceFull")
    let line = try #require(child.readLine())
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 3, "\(line)")
    (newCount, failures, defects) = (numbers[0], numbers[1], numbers[2])
    #expect(child.waitForEnd() == 0)
  }
}
