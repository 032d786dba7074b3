import ArgumentParser
import Cistern
import Testing

@testable import InputFormats

@testable import StressKit

@Suite struct SizeTests {
  @Test(arguments: [
    ("4096", 4_096), ("0", 0), ("64MiB", 64 << 20), ("1GiB", 1 << 30), ("512KB", 512_000), ("512kb", 512_000),
    ("16K", 16 << 10), ("1.5MiB", 3 << 19), ("2 TiB", 2 << 40), ("10B", 10), ("1_000", 1_000),
  ])
  func `sizes are parsed`(text: String, bytes: Int) throws {
    #expect(try ByteCount(argument: text).bytes == bytes)
  }

  @Test(arguments: [
    "", "MiB", "-1", "12 parsecs", "1e3", "1..5MiB", "0x10", "∞", "9223372036854775807KiB", "99999999999999999999",
  ])
  func `nonsense is not a size`(text: String) {
    #expect(throws: ValidationError.self) { try ByteCount(argument: text) }
  }

  @Test(arguments: ["0", "0MiB", "0.0001"])
  func `limits must be positive`(text: String) {
    #expect(throws: ValidationError.self) { try ByteCount.positive(text) }
  }

  @Test(arguments: [("20", 20.0), ("5ms", 0.005), ("3m", 180), ("1.5h", 5_400), ("250us", 0.000_25), ("0", 0)])
  func `times are parsed`(text: String, seconds: Double) throws {
    #expect(abs(try Duration.argument(text).seconds - seconds) < 1e-9)
  }

  @Test(arguments: ["", "-5", "soon", "5 years", "ms", "1e99s"])
  func `nonsense is not a time`(text: String) {
    #expect(throws: ValidationError.self) { try Duration.argument(text) }
  }

  @Test func `shares are numbers or percentages`() throws {
    #expect(try shareArgument("0.25") == 0.25)
    #expect(try shareArgument("25%") == 0.25)
    #expect(throws: ValidationError.self) { try shareArgument("25") }
    #expect(throws: ValidationError.self) { try shareArgument("-1%") }
    #expect(throws: ValidationError.self) { try shareArgument("many") }
  }

  @Test func `replay limits are sizes or shares`() throws {
    #expect(try ReplayLimit(argument: "1%").cost(footprint: 13_756) == 137)
    #expect(try ReplayLimit(argument: "64KiB").cost(footprint: 1) == 65_536)
    #expect(try ReplayLimit(argument: "0.001%").cost(footprint: 10) == 1)
    #expect(throws: ValidationError.self) { try ReplayLimit(argument: "0%") }
    #expect(throws: ValidationError.self) { try ReplayLimit(argument: "0") }
    #expect(throws: ValidationError.self) { try ReplayLimit(argument: "200%") }
  }
}
