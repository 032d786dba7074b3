import java.util.Arrays;
import java.util.Random;

/** The subjects of scripts/compare that run on the JVM. Peers/README.md describes the arguments and the output. */
public final class Peer {
  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 5 && arguments[0].equals("memory")) {
      int entries = Integer.parseInt(arguments[3]);
      int requests = Integer.parseInt(arguments[4]);
      if (arguments[2].equals("int")) {
        new Memory<Long>(arguments[1], "int", Peer::intKey, entries, requests).run();
      } else {
        new Memory<String>(arguments[1], "string", Peer::stringKey, entries, requests).run();
      }
    } else if (arguments.length == 3 && arguments[0].equals("coalescer")) {
      new Coalescing(arguments[1], Integer.parseInt(arguments[2])).run();
    } else {
      System.err.println("usage: memory SUBJECT KEY ENTRIES REQUESTS | coalescer SUBJECT CALLERS");
      System.exit(2);
    }
    System.exit(0);
  }

  static Long intKey(int rank) {
    return (rank * 0x9E37_79B9_7F4A_7C15L) >>> 20;
  }

  static String stringKey(int rank) {
    return String.format("user/%015d", intKey(rank));
  }

  /** Returns the cumulative weights of ranks by Zipf's law with exponent 0.99, as in the other languages' harnesses. */
  static double[] zipf(int count) {
    double[] cumulative = new double[count];
    double sum = 0;
    for (int rank = 0; rank < count; rank++) {
      sum += 1 / Math.pow(rank + 1, 0.99);
      cumulative[rank] = sum;
    }
    return cumulative;
  }

  static int[] draw(double[] cumulative, int count, long seed) {
    Random random = new Random(seed);
    double total = cumulative[cumulative.length - 1];
    int[] ranks = new int[count];
    for (int index = 0; index < count; index++) {
      int found = Arrays.binarySearch(cumulative, random.nextDouble() * total);
      ranks[index] = Math.min(found < 0 ? -found - 1 : found, cumulative.length - 1);
    }
    return ranks;
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
