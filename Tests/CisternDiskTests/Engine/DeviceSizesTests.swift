import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Values of many sizes, also of many pages, on a device that is full below the disk limit.
///
/// Each filling is a process of its own. The limit on the size of a file stands for the device.
struct DeviceSizesTests {
  struct Device: Sendable, CustomTestStringConvertible {
    let kibibytes: Int
    let limit: ByteCount
    let greatest: Int

    var testDescription: String { "\(kibibytes) KiB of \(limit), values up to \(greatest) bytes" }
  }

  static let devices = [
    Device(kibibytes: 2048, limit: .mebibytes(8), greatest: 20_000),
    Device(kibibytes: 3001, limit: .mebibytes(8), greatest: 20_000),
    Device(kibibytes: 2048, limit: .mebibytes(8), greatest: 12_000),
    Device(kibibytes: 6144, limit: .mebibytes(8), greatest: 20_000),
    Device(kibibytes: 4097, limit: .mebibytes(16), greatest: 60_000),
  ]

  private struct Filling {
    var bytes = 0
    var failures = 0
    var defects = 0
    var reports: [String] = []
  }

  /// Writes values to the store on a device of this size, in a process of its own.
  private func fill(
    _ scratch: TemporaryDirectory, _ device: Device, kibibytes: Int, count: Int, options: [String]
  ) throws -> Filling {
    let child = try ChildProcess(
      [
        "device-sizes", scratch.path, "\(1 << 20)", "processCrash", "\(device.limit.bytes)", "\(kibibytes << 10)",
        "\(device.greatest)", "\(count)", "\(count)",
      ] + options)
    var filling = Filling()
    while let line = child.readLine() {
      let words = line.split(separator: " ")
      if words.first == "report" {
        filling.reports.append(String(words[1]))
      } else {
        let numbers = words.compactMap { Int($0) }
        try #require(numbers.count == 4, "\(line)")
        (filling.bytes, filling.failures, filling.defects) = (numbers[1], numbers[2], numbers[3])
      }
    }
    #expect(child.waitForEnd() == 0)
    return filling
  }

  @Test(arguments: DiskLayout.both)
  func `A write that the limit on file sizes cut short is about space`(layout: DiskLayout) throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess([
      "largest-file", scratch.path, "\(1 << 20)", "processCrash", "layout=\(layout.rawValue)",
    ])
    #expect(child.readLine() == "noSpace")
    #expect(child.waitForEnd() == 0)
  }

  @Test(arguments: devices, DiskLayout.both)
  func `A full device takes values of all sizes, also from another process, and the store grows with the device`(
    device: Device, layout: DiskLayout
  ) throws {
    let scratch = TemporaryDirectory()
    let least = device.kibibytes << 10
    let layout = "layout=\(layout.rawValue)"
    for (count, commits) in [(1000, []), (600, ["small-commits"])] {
      let full = try fill(
        scratch, device, kibibytes: device.kibibytes, count: count, options: commits + [layout])
      #expect(full.failures == 0 && full.defects == 0, "\(full)")
      #expect(full.bytes > (commits.isEmpty ? 0 : least / 2), "\(full)")
      #expect(full.reports == ["deviceFull"])
    }
    let large = try fill(scratch, device, kibibytes: 20 << 10, count: 2000, options: ["small-commits", layout])
    #expect(large.failures == 0 && large.defects == 0, "\(large)")
    #expect(large.bytes > device.limit.bytes / 2, "\(large)")
    #expect(large.reports.isEmpty)
  }
}
