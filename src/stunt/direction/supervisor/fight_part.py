from functools import cache
from stunt.motion.graph.own import OWN_BLOWS, own_boxing_graph
from stunt.motion.graph.cache import user_cache
from stunt.motion.graph.pursuit import PursuitSearcher
@cache
def own_searcher():
    dear={b.clip:0.05 for b in OWN_BLOWS}|{"box_breather":0.1}
    return PursuitSearcher(own_boxing_graph(user_cache()), OWN_BLOWS, dear)
