import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Caffeine's AsyncLoadingCache as a coalescer. Its callers are futures of one thread, each with an action that runs when
 * the value is available. Unlike the callers of the other subjects, they have no tasks.
 */
final class Coalescing {
  private final int callers;
  private CompletableFuture<Void> door = new CompletableFuture<>();
  private long resumed;

  Coalescing(String subject, int callers) {
    if (!subject.equals("Caffeine futures")) throw new IllegalArgumentException("no subject " + subject);
    this.callers = callers;
  }

  void run() {
    AsyncLoadingCache<String, String> cache =
        Caffeine.newBuilder().maximumSize(1 << 20)
            .buildAsync((String key, Executor executor) -> door.thenApply(nothing -> key));
    report("one key", number -> {
      String key = "one/" + number;
      return together(cache, caller -> key);
    });
    String[] keys = new String[callers];
    report("many keys", number -> {
      for (int caller = 0; caller < callers; caller++) keys[caller] = "many/" + number + "/" + caller;
      return together(cache, caller -> keys[caller]);
    });
    int calls = 10_000;
    String[] fresh = new String[calls];
    report("alone", number -> {
      for (int call = 0; call < calls; call++) fresh[call] = "alone/" + number + "/" + call;
      door = CompletableFuture.completedFuture(null);
      long began = System.nanoTime();
      for (String key : fresh) resumed += cache.get(key).join().length();
      double cost = (double) (System.nanoTime() - began) / calls;
      cache.synchronous().invalidateAll();
      return cost;
    });
    if (resumed == 0) throw new IllegalStateException();
  }

  private double together(AsyncLoadingCache<String, String> cache, java.util.function.IntFunction<String> key) {
    door = new CompletableFuture<>();
    long began = System.nanoTime();
    for (int caller = 0; caller < callers; caller++) cache.get(key.apply(caller)).thenAccept(value -> resumed++);
    door.complete(null);
    double cost = (double) (System.nanoTime() - began) / callers;
    cache.synchronous().invalidateAll();
    return cost;
  }

  private void report(String workload, java.util.function.IntToDoubleFunction measure) {
    for (int number = 0; number < 200; number++) measure.applyAsDouble(number);
    double[] costs = new double[100];
    for (int number = 0; number < costs.length; number++) costs[number] = measure.applyAsDouble(200 + number);
    System.out.println("coalescer," + workload + ",Caffeine futures,1,ns," + Peer.median(costs));
  }
}
